import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { NewKey } from '../../../shared/keys/manage-keys.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { creationLog } from '../../support/charges.ts';
import type { Figure, FigureRun } from '../figure.ts';
import type { World } from '../world/world.ts';
import { httpClient, smallRide } from './http-client.ts';
import { inWorld, numbers } from './in-world.ts';

/** Each ride has three offers and is completed. */
const eventsOfRide = 7;
const ridesPerSecond = 60;
/** With this many keys, each stays under its limits of 30 creations a minute and 300 an hour. */
const keyCount = 150;
const longestBacklog = 200;
const biddingTimeoutMs = ({ short }: FigureRun) => (short ? 8_000 : 20_000);
const mostGrowth = 0.1;

/** Makes a process collect garbage on SIGUSR2, so that the remaining memory is really in use. */
const collector = `process.on('SIGUSR2', () => gc())`;
const nodeArgs = ['--expose-gc', '--import', `data:text/javascript,${encodeURIComponent(collector)}`];

/** Bytes, by the name of the process. */
type Memory = Map<string, number>;

export const growth: Figure = {
  name: 'growth',
  goal: 'memory and Redis within 10 % after 100,000 events, once the last timers have fired',
  async measure(run) {
    // This many events fill the connection pools, the compiled code, the list of finished jobs and the queues' event
    // streams.
    const warmUp = run.short ? 1_000 : 20_000;
    const events = run.short ? 5_000 : 100_000;
    const settings = { SIMULATION_SPEED: '10', BIDDING_TIMEOUT_MS: `${biddingTimeoutMs(run)}`, LOG_LEVEL: 'warn' };
    const { measured, crashes } = await inWorld({ build: run.build, copies: 1, settings, nodeArgs }, async (world) => {
      const keys = await Promise.all(numbers(keyCount).map(() => world.newKey({ mode: 'test' })));
      await drive(world, run, keys, warmUp);
      const before = await memoryAtRest(world, run);
      const settledBefore = await settledEvents();
      await drive(world, run, keys, events);
      const after = await memoryAtRest(world, run);
      return { before, after, events: (await settledEvents()) - settledBefore };
    });
    const { before, after } = measured;
    const grown = [...after].map(([name, bytes]) => ({ name, bytes, by: bytes / (before.get(name) ?? bytes) - 1 }));
    const sizes = grown.map(({ name, bytes, by }) => `${name} ${percent(by)} to ${(bytes / 2 ** 20).toFixed(1)} MB`);
    const note = run.short ? ' (growth is no violation in a short run, whose warm-up is too short)' : '';
    const reached = `after ${measured.events.toLocaleString('en')} events, at rest, without garbage and the logs of the rate limit: ${sizes.join(', ')}${note}`;
    const tooMuch = run.short ? [] : grown.filter(({ by }) => by > mostGrowth);
    return {
      reached,
      violations: [...tooMuch.map(({ name, by }) => `${name} grew by ${percent(by)}`), ...crashes],
    };
  },
};

const percent = (share: number): string => `${share < 0 ? '' : '+'}${(share * 100).toFixed(1)} %`;

/** Creates rides until at least `events` events are settled, no faster than the machine can process them. */
async function drive(world: World, run: FigureRun, keys: readonly NewKey[], events: number): Promise<void> {
  const clients = world.apis.map(({ url }) => httpClient(url, 10));
  const target = (await settledEvents()) + events;
  let number = 0;
  const create = async (): Promise<void> => {
    const client = clients[number % clients.length];
    const key = keys[number++ % keys.length]?.key;
    const headers = { 'X-Service-Test-Scenario': 'three_offers' };
    const answer = await client?.request({ method: 'POST', path: '/v1/rides', key, headers, body: smallRide });
    if (answer?.status !== 201) throw new Error(`a creation was answered ${answer?.status}`);
    // Partners also read their rides.
    await client?.request({ path: `/v1/rides/${JSON.parse(answer.text).rideId}`, key });
  };
  // On a slow machine a ride may have fewer events, because its bidding ends before the simulator accepts.
  for (let left = events; left > 0; left = target - (await settledEvents())) {
    await createEach(Math.ceil(left / eventsOfRide), create, (count) => {
      run.say(`${(count * eventsOfRide).toLocaleString('en')} of ${left.toLocaleString('en')} events`);
    });
    const open = await world.quiet(120_000);
    if (open > 0) throw new Error(`${open} rides have not ended`);
  }
  for (const client of clients) client.close();
}

/**
 * Creates rides at a fixed rate, and pauses while more than `longestBacklog` rides are active or have unsettled events.
 */
async function createEach(count: number, create: () => Promise<void>, say: (count: number) => void): Promise<void> {
  const isUnfinished = { $or: [{ unsettled: { $gt: 0 } }, { nextDueAt: { $exists: true } }] };
  let nextAt = performance.now();
  for (let done = 0; done < count; ) {
    const batch = numbers(Math.min(ridesPerSecond / 4, count - done)).map(async (index) => {
      await setTimeout((index * 1_000) / ridesPerSecond);
      await create();
    });
    await Promise.all(batch);
    done += batch.length;
    nextAt = Math.max(nextAt + 250, performance.now());
    await setTimeout(nextAt - performance.now());
    while ((await rides.countDocuments(isUnfinished)) > longestBacklog) await setTimeout(50);
    if (done % 3_000 < ridesPerSecond / 4) say(done);
  }
}

async function settledEvents(): Promise<number> {
  const pipeline = [{ $group: { _id: null, events: { $sum: '$settledSeq' } } }];
  const [sum] = await rides.aggregate<{ events: number }>(pipeline).toArray();
  return sum?.events ?? 0;
}

/**
 * The lowest of several readings, after the last bidding timer has fired. Garbage is collected first, because otherwise
 * V8 does not shrink its heap. The logs of the rate limit live for an hour by design, so they are deleted from Redis
 * first.
 */
async function memoryAtRest(world: World, run: FigureRun): Promise<Memory> {
  await setTimeout(biddingTimeoutMs(run) + (run.short ? 1_000 : 25_000));
  const redis = new Redis(world.redis.url);
  const logs = await redis.keys(creationLog('*'));
  if (logs.length > 0) await redis.del(logs);
  for (const process of [...world.apis, ...world.workers]) process.signal('SIGUSR2');
  const lowest: Memory = new Map();
  const read = (name: string, bytes: number) => lowest.set(name, Math.min(bytes, lowest.get(name) ?? bytes));
  for (const _ of numbers(run.short ? 3 : 10)) {
    for (const process of [...world.apis, ...world.workers]) read(process.name, process.residentBytes());
    read('Redis', Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]));
    await setTimeout(500);
  }
  redis.disconnect();
  return lowest;
}
