import fs from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { accountOf, operatorEmail } from '../shared/accounts/account.ts';
import { asksForHelp, said } from '../shared/cli/command-line.ts';
import { ConfigError, readConfig } from '../shared/config.ts';
import { createKey } from '../shared/keys/manage-keys.ts';
import { playRide } from './demo/demo-ride.ts';
import { partnerWith } from './demo/partner.ts';
import { type Receiver, startReceiver } from './demo/receiver.ts';
import { createTimeline } from './demo/timeline.ts';
import { freePort } from './servers/ports.ts';
import { removeAbandonedFolders, temporaryFolder } from './servers/temporary-folder.ts';
import { withDatabase } from './stack/database.ts';
import { parseEntry, readable } from './stack/log-lines.ts';
import { aborted, endSignal } from './stack/signals.ts';
import { type Stack, startStack } from './stack/stack.ts';

const keptLines = 20;
const pauseMs = 5_000;

const usage = `Usage: npm run demo [-- --open]

Takes one ride from request to completed before your eyes,
on a service of its own that is removed afterwards. It takes
about 15 s; SIMULATION_SPEED makes it quicker.

  --open   keeps the service up and starts ride after ride,
           until Ctrl-C: time to look at the live map

Examples
  npm run demo
  npm run demo -- --open
  SIMULATION_SPEED=5 npm run demo`;

const args = process.argv.slice(2);
if (asksForHelp(args)) {
  console.log(usage);
  process.exit();
}
const staysOpen = args.length === 1 && args[0] === '--open';
if (args.length > 0 && !staysOpen) {
  console.error(`demo: it takes --open alone, and was given ${args.join(' ')}\n${usage}`);
  process.exit(2);
}

/** `npm run demo`: a whole stack of its own, and a partner who takes one ride from request to completed. */
const timeline = createTimeline();
const lines: string[] = [];
const ending = endSignal();
const exitCode = await demo();
timeline.end();
process.exit(exitCode);

async function demo(): Promise<number> {
  await removeAbandonedFolders();
  const dataDir = await temporaryFolder('demo');
  const receiver = await startReceiver();
  const stops = [async () => receiver.stop(), () => fs.rm(dataDir, { recursive: true, force: true })];
  try {
    timeline.note('\nA ride from request to completed, on a service of its own\n');
    const stack = await startDemoStack(dataDir, receiver);
    stops.unshift(stack.stop);
    ending.throwIfAborted();
    const playOne = await player(stack, receiver);
    const events = await Promise.race([playOne(), interrupted()]);
    timeline.note(`\nAll ${events} events came, in order, each with a verified signature.`);
    if (staysOpen) await playOn(playOne);
    return 0;
  } catch (error) {
    process.exitCode = 1;
    printFailure(error as Error);
    return 1;
  } finally {
    timeline.progress('stopping everything');
    for (const stop of stops) await stop();
    timeline.progress('');
    timeline.note(`Everything is stopped again, after ${timeline.elapsed()}.`);
    if (!ending.aborted && !process.exitCode)
      timeline.note('Next: npm run dev starts the service for your own rides.\n');
  }
}

function printFailure(error: Error): void {
  if (ending.aborted || error instanceof ConfigError) {
    timeline.note(ending.aborted ? '\nThe demo was interrupted.' : `\n${said('demo', error.message)}`);
    return;
  }
  timeline.note(`\nThe demo failed: ${error.message}.`);
  for (const line of lines) timeline.note(line);
  timeline.note(
    'Try it again: a busy machine can be too slow for it. If it fails again, npm run dev shows every log line.',
  );
}

async function startDemoStack(dataDir: string, receiver: Receiver): Promise<Stack> {
  return startStack({
    port: await freePort(),
    dataDir,
    keepQueues: false,
    settings: { WEBHOOK_LOCAL_TARGETS: receiver.origin, LOG_LEVEL: process.env.LOG_LEVEL || 'warn' },
    say: timeline.note,
    progress: timeline.progress,
    onLine: (name, line) => {
      const entry = parseEntry(line);
      lines.push(entry ? readable(name, entry) : `${name}: ${line}`);
      if (lines.length > keptLines) lines.shift();
    },
  });
}

/** Plays ride after ride until Ctrl-C, which is the expected end. */
async function playOn(playOne: () => Promise<number>): Promise<void> {
  timeline.note('The next ride begins in 5 s. Ctrl-C ends it all.\n');
  const ended = aborted(ending);
  while (!ending.aborted) {
    await Promise.race([setTimeout(pauseMs), ended]);
    if (!ending.aborted) await Promise.race([playOne(), ended]);
    timeline.note('');
  }
}

/** A partner with a key of its own, who plays a ride and resolves with the number of its events. */
async function player(stack: Stack, receiver: Receiver): Promise<() => Promise<number>> {
  const config = readConfig(stack.env);
  const { key, signingSecret } = await withDatabase(stack.env.MONGO_URL, async () => {
    const { _id: accountId } = await accountOf(operatorEmail);
    return createKey(config, { accountId, name: 'demo', mode: 'test', webhookUrl: `${receiver.origin}/webhooks` });
  });
  receiver.secret = signingSecret;
  const partner = partnerWith(key, `${stack.url}/v1`);
  return () => playRide(timeline, partner, receiver, config.simulationSpeed);
}

async function interrupted(): Promise<never> {
  await aborted(ending);
  throw new Error('it was interrupted');
}
