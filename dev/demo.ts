import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { accountOf, operatorEmail } from '../shared/accounts/account.ts';
import { readConfig } from '../shared/config.ts';
import { createKey } from '../shared/keys/manage-keys.ts';
import { playRide } from './demo/demo-ride.ts';
import { partnerWith } from './demo/partner.ts';
import { type Receiver, startReceiver } from './demo/receiver.ts';
import { createTimeline } from './demo/timeline.ts';
import { freePort } from './servers/ports.ts';
import { withDatabase } from './stack/database.ts';
import { readable } from './stack/log-lines.ts';
import { aborted, endSignal } from './stack/signals.ts';
import { type Stack, startStack } from './stack/stack.ts';

const keptLines = 20;

/** `npm run demo`: a whole stack of its own, and a partner who takes one ride from request to completed. */
const timeline = createTimeline();
const lines: string[] = [];
const ending = endSignal();
const exitCode = await demo();
timeline.end();
process.exit(exitCode);

async function demo(): Promise<number> {
  const startedAt = Date.now();
  const dataDir = await fs.mkdtemp(path.join(os.tmpdir(), 'rides-demo-'));
  const receiver = await startReceiver();
  const stops = [async () => receiver.stop(), () => fs.rm(dataDir, { recursive: true, force: true })];
  try {
    timeline.note('\n  A ride from request to completed, on a service of its own on this machine\n');
    timeline.progress('starting MongoDB, Redis, the API and the workers');
    const stack = await startDemoStack(dataDir, receiver);
    stops.unshift(stack.stop);
    ending.throwIfAborted();
    const events = await Promise.race([ride(stack, receiver), interrupted()]);
    timeline.note(`\n  The ride is completed: ${events} events, in order, each with its signature verified.`);
    timeline.progress('stopping everything');
    return 0;
  } catch (error) {
    const reason = ending.aborted ? 'it was interrupted' : (error as Error).message;
    timeline.note(`\n  The demo failed: ${reason}`);
    if (!ending.aborted) for (const line of lines) timeline.note(`  ${line}`);
    return 1;
  } finally {
    for (const stop of stops) await stop();
    timeline.progress('');
    timeline.note(
      `  Everything that was started is stopped again, after ${((Date.now() - startedAt) / 1000).toFixed(1)} s.\n`,
    );
  }
}

async function startDemoStack(dataDir: string, receiver: Receiver): Promise<Stack> {
  return startStack({
    port: await freePort(),
    dataDir,
    keepQueues: false,
    settings: { WEBHOOK_LOCAL_TARGETS: receiver.origin, LOG_LEVEL: process.env.LOG_LEVEL || 'warn' },
    say: (line) => timeline.note(`>>> ${line}`),
    onLine: (name, line) => {
      lines.push(readable(name, line));
      if (lines.length > keptLines) lines.shift();
    },
  });
}

async function ride(stack: Stack, receiver: Receiver): Promise<number> {
  const config = readConfig(stack.env);
  const { key, signingSecret } = await withDatabase(stack.env.MONGO_URL, async () => {
    const { _id: accountId } = await accountOf(operatorEmail);
    return createKey(config, { accountId, name: 'demo', mode: 'test', webhookUrl: `${receiver.origin}/webhooks` });
  });
  receiver.secret = signingSecret;
  timeline.progress('');
  return playRide(timeline, partnerWith(key, `${stack.url}/v1`), receiver, config.simulationSpeed);
}

async function interrupted(): Promise<never> {
  await aborted(ending);
  throw new Error('it was interrupted');
}
