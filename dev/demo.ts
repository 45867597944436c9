import fs from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { newCommand, optionsOf } from '../cli/parser.ts';
import { accountOf, operatorEmail } from '../shared/accounts/account.ts';
import { readConfig } from '../shared/base/config.ts';
import { ConfigError } from '../shared/base/errors.ts';
import type { Mode } from '../shared/base/terms.ts';
import { createKey } from '../shared/keys/manage-keys.ts';
import { prefixLines } from '../shared/process/command-line.ts';
import { createTimeline } from './demo/demo-timeline.ts';
import { type Partner, partnerWith, type Receiver, startReceiver } from './demo/partner.ts';
import { playLiveRide, playRide, trip } from './demo/play-ride.ts';
import type { Behaviour } from './fleet/behaviour.ts';
import { hireDrivers } from './fleet/hire.ts';
import { type Fleet, startFleet } from './fleet/start-fleet.ts';
import { freePort } from './servers/ports.ts';
import { removeAbandonedFolders, temporaryFolder } from './servers/temporary-folder.ts';
import { withDatabase } from './stack/database.ts';
import { parseEntry, readable } from './stack/logs.ts';
import { aborted, endSignal } from './stack/signals.ts';
import { type Stack, startStack } from './stack/stack.ts';

const keptLines = 20;
const pauseMs = 5_000;
const liveDrivers = 5;
const liveSeed = 1;
/** Every driver bids, some above the fare, and none withdraws or cancels. */
const liveBehaviour: Behaviour = { bids: 1, counters: 0.6, withdraws: 0, cancels: 0 };
/** The factor by which cars are faster than in real life, so that a drive through the city takes only seconds. */
const liveDrivingSpeed = 60;

const about = `Runs one complete test ride in your terminal, on a private
service that is removed afterwards. After the start, the
ride takes about 15 s, or less with a higher
SIMULATION_SPEED.`;
const command = newCommand('npm run demo --', about, [
  'PROGRAM --open',
  'PROGRAM --live',
  'SIMULATION_SPEED=5 npm run demo',
])
  .option(
    '--live',
    'runs a live ride instead of a test ride: simulated drivers compete for it, and it takes about 25 s',
    false,
  )
  .option(
    '--open',
    'keeps the service up and runs ride after ride until Ctrl-C, so you can look at the live map',
    false,
  );

/** `npm run demo`: starts a private stack and plays one complete ride as a partner. */
const { open: staysOpen, live: isLive } = await optionsOf<{ open: boolean; live: boolean }>('demo', command);
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
    timeline.note(`\nA complete ${isLive ? 'live' : 'test'} ride, from request to completed, on a private service\n`);
    const stack = await startDemoStack(dataDir, receiver);
    stops.unshift(stack.stop);
    ending.throwIfAborted();
    const playOne = isLive ? await livePlayer(stack, receiver, stops) : await player(stack, receiver);
    const events = await Promise.race([playOne(), interrupted()]);
    timeline.note(`\nAll ${events} events arrived in order, each with a valid signature.`);
    if (staysOpen) await playOn(playOne);
    return 0;
  } catch (error) {
    process.exitCode = 1;
    printFailure(error as Error);
    return 1;
  } finally {
    timeline.progress('stopping all processes');
    for (const stop of stops) await stop();
    timeline.progress('');
    timeline.note(`All processes are stopped, after ${timeline.elapsed()}.`);
    if (!ending.aborted && !process.exitCode)
      timeline.note('Next: npm run dev starts the service for your own rides.\n');
  }
}

function printFailure(error: Error): void {
  if (ending.aborted || error instanceof ConfigError) {
    timeline.note(ending.aborted ? '\nThe demo was interrupted.' : `\n${prefixLines('demo', error.message)}`);
    return;
  }
  timeline.note(`\nThe demo failed: ${error.message}.`);
  for (const line of lines) timeline.note(line);
  timeline.note('Try again: a busy machine can be too slow. If it fails again, npm run dev shows every log line.');
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

/** Plays one ride after the other, until Ctrl-C ends the demo. */
async function playOn(playOne: () => Promise<number>): Promise<void> {
  timeline.note('The next ride begins in 5 s. Press Ctrl-C to stop.\n');
  const ended = aborted(ending);
  while (!ending.aborted) {
    await Promise.race([setTimeout(pauseMs), ended]);
    if (!ending.aborted) await Promise.race([playOne(), ended]);
    timeline.note('');
  }
}

/** Plays a ride and resolves with the number of its events. */
type PlayOne = () => Promise<number>;

async function player(stack: Stack, receiver: Receiver): Promise<PlayOne> {
  const { simulationSpeed } = readConfig(stack.env);
  const partner = await withDatabase(stack.env.MONGO_URL, () => newPartner(stack, receiver, 'test'));
  return () => playRide(timeline, partner, receiver, simulationSpeed);
}

/** Like `player`, but for live rides: puts drivers online, who compete for the rides until the demo stops. */
async function livePlayer(stack: Stack, receiver: Receiver, stops: (() => Promise<void>)[]): Promise<PlayOne> {
  const { simulationSpeed: speed } = readConfig(stack.env);
  timeline.progress('drivers go online');
  const [partner, fleet] = await withDatabase(stack.env.MONGO_URL, async () => [
    await newPartner(stack, receiver, 'live'),
    await startLiveFleet(stack.url, speed),
  ]);
  stops.unshift(fleet.stop);
  const { online } = fleet.figures;
  timeline.note(`${online} drivers are online nearby.`);
  return () => playLiveRide(timeline, partner, receiver, Math.max(30_000, 30_000 / speed));
}

/** Puts drivers online near the demo's pickup. Requires a connection to the stack's database. */
async function startLiveFleet(url: string, speed: number): Promise<Fleet> {
  const keys = (await hireDrivers(liveDrivers, liveSeed, 'regular')).map(({ key }) => key);
  const area = { ...trip.pickup, km: 1.5 };
  const pace = { drivingSpeed: liveDrivingSpeed * speed, thinkingSpeed: speed, reportMs: 1_000 };
  return startFleet({ url, keys, area, seed: liveSeed, behaviour: liveBehaviour, ...pace });
}

/** Creates a partner with a new key whose events go to the receiver. Requires a connection to the stack's database. */
async function newPartner(stack: Stack, receiver: Receiver, mode: Mode): Promise<Partner> {
  const { _id: accountId } = await accountOf(operatorEmail);
  const webhookUrl = `${receiver.origin}/webhooks`;
  const { key, signingSecret } = await createKey(readConfig(stack.env), { accountId, name: 'demo', mode, webhookUrl });
  receiver.secret = signingSecret;
  return partnerWith(key, `${stack.url}/v1`);
}

async function interrupted(): Promise<never> {
  await aborted(ending);
  throw new Error('interrupted');
}
