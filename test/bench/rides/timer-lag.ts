import { setTimeout } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Ride, Timer } from '../../../shared/rides/ride-types.ts';
import { nextStep, simulatedOffer } from '../../../shared/rides/simulation.ts';
import { assertCount, type Bench, type Measurement } from '../bench.ts';
import { type BenchKey, newKeys } from '../data/keys.ts';
import { biddingRide, insertRides } from '../data/rides.ts';
import type { Program } from '../measured/program.ts';
import type { Figure } from '../report.ts';
import { actor, type Stack } from '../stack.ts';
import { median, percentile } from '../statistics.ts';

const perSecond = 125;
const backlogs = [0, 10_000, 100_000];

/**
 * The lag of the simulated driver's steps: the event's `at` minus the timer's `dueAt`, both on MongoDB's clock.
 * Measured for a step that follows another action, with different numbers of delayed jobs in the same queue, and for a
 * step whose job was added by a full sweep. Beside it, the lag of a bare worker's delayed jobs on the same Redis.
 */
export const timerLag: Measurement = async (bench) => {
  const { stack } = bench;
  await stack.start('simulator', 'workers/main', { args: ['simulator'] });
  const [key] = (await newKeys(1, 'test')) as [BenchKey];
  bench.say('timer lag: warm-up');
  await lagsAfterAction(stack, key, perSecond * 2);
  const bare = await stack.start('floor', 'test/bench/floor/lag');
  const bareQueue = new Queue('bare', { connection: stack.redis, skipVersionCheck: true });
  await bareLags(bare, bareQueue, perSecond * 2);
  const figures: Figure[] = [];
  const p99s: number[] = [];
  for (const [index, backlog] of backlogs.entries()) {
    bench.say(`timer lag: adding delayed jobs, ${backlog}`);
    await addDelayed(stack, backlog - (backlogs[index - 1] ?? 0));
    const name = `timer lag with ${backlog.toLocaleString('en-US')} other delayed jobs`;
    const rounds = await measureRounds(bench, name, (count) => lagsAfterAction(stack, key, count));
    const bareRounds = await measureRounds(bench, `${name}, a bare worker`, (count) =>
      bareLags(bare, bareQueue, count),
    );
    const p99 = median(rounds.map((lags) => percentile(lags, 0.99)));
    const bareP99 = median(bareRounds.map((lags) => percentile(lags, 0.99)));
    figures.push(
      ...figuresOf(name, rounds),
      { name: `${name}, p99 of a bare worker`, unit: 'ms', service: [bareP99] },
      { name: `${name}, p99 more than a bare worker`, unit: 'ms', service: [p99 - bareP99], goal: '<= 10' },
    );
    p99s.push(p99);
  }
  const [service, floor] = [[Math.max(...p99s)], [Math.min(...p99s)]];
  const spread: Figure = {
    name: 'timer lag p99, largest (floor: smallest)',
    unit: 'ms',
    service,
    floor,
    goal: '<= 1.2',
  };
  const swept = bench.quick ? 2_000 : 10_000;
  const name = `timer lag after a sweep of ${swept.toLocaleString('en-US')} rides`;
  const afterSweep = await measureRounds(bench, name, (count) => lagsAfterSweep(stack, key, count, swept));
  return [...figures, spread, ...figuresOf(name, afterSweep)];
};

function figuresOf(name: string, rounds: number[][]): Figure[] {
  const at = (p: number) => rounds.map((lags) => percentile(lags, p));
  return [
    { name: `${name}, p50`, unit: 'ms', service: at(0.5) },
    { name: `${name}, p99`, unit: 'ms', service: at(0.99), goal: '<= 25' },
  ];
}

async function measureRounds(
  bench: Bench,
  name: string,
  lagsOf: (count: number) => Promise<number[]>,
): Promise<number[][]> {
  const count = bench.quick ? 1 : bench.rounds;
  const rounds: number[][] = [];
  for (let round = 1; round <= count; round++) {
    bench.say(`${name}: round ${round} of ${count}`);
    rounds.push(await lagsOf(bench.quick ? 300 : 1_000));
  }
  return rounds;
}

/**
 * Adds offers at a fixed rate. The simulator accepts each when its timer is due; in this scenario no further step
 * follows.
 */
async function lagsAfterAction(stack: Stack, key: BenchKey, count: number): Promise<number[]> {
  const scenario = 'stalls';
  const made = Array.from({ length: count }, (): Ride => ({ ...biddingRide(key), scenario }));
  await insertRides(made);
  const ctx = actor(stack);
  const startMs = Date.now();
  await Promise.all(
    made.map(async (ride, index) => {
      // A random part of the delay avoids synchronisation with clock ticks and other timers.
      await setTimeout(((index + Math.random()) * 1_000) / perSecond);
      await applyAction(ctx, ride._id, { action: 'offer', ...simulatedOffer(ride, 'offer') }, 'anyone');
    }),
  );
  const { step, afterMs = 0 } = nextStep(scenario, 'offer') ?? {};
  if (step !== 'accept') throw new Error('timer lag: the script does not accept after the offer');
  await setTimeout(startMs + (count * 1_000) / perSecond + afterMs + 1_000 - Date.now());
  return readLags(stack, count, 2, ({ events }) => (events[0]?.at.getTime() ?? 0) + afterMs);
}

/** The lags of jobs without work, which are due at the same rate. Their worker only notes when each starts. */
async function bareLags(worker: Program, queue: Queue, count: number): Promise<number[]> {
  const afterMs = 2_000;
  for (let index = 0; index < count; index++) {
    await queue.add('bare', { dueMs: Date.now() + afterMs }, { delay: afterMs });
    await setTimeout((Math.random() * 2_000) / perSecond);
  }
  await setTimeout(afterMs + 1_000);
  const lags = await worker.ask<number[]>('lags');
  assertCount(count, lags.length, 'timer lag: jobs of the bare worker');
  return lags;
}

/**
 * Empties Redis, so that the worker's own sweeper adds the jobs: first those of `others` rides that are due earlier,
 * whose pool does not run here, then those of the measured rides.
 */
async function lagsAfterSweep(stack: Stack, key: BenchKey, count: number, others: number): Promise<number[]> {
  const firstMs = Date.now() + 5_000 + others;
  const dueAt = (index: number) => new Date(firstMs + Math.floor(((index + Math.random()) * 1_000) / perSecond));
  const dueOf = new Map<string, number>();
  const made = Array.from({ length: count }, (_, index): Ride => {
    // In this scenario the partner must accept, so no step follows the offer.
    const ride = { ...withTimer(biddingRide(key), { name: 'offer', dueAt: dueAt(index) }), scenario: 'no_auto_accept' };
    dueOf.set(ride._id, ride.nextDueAt?.getTime() ?? 0);
    return ride as Ride;
  });
  const expireAt = new Date(firstMs - 1_000);
  const expiring = Array.from({ length: others }, () =>
    withTimer(biddingRide(key), { name: 'expire', dueAt: expireAt }),
  );
  await insertRides([...expiring, ...made]);
  await stack.redis.flushall();
  await setTimeout(firstMs + (count * 1_000) / perSecond + 1_000 - Date.now());
  return readLags(stack, count, 1, ({ _id }) => dueOf.get(_id) ?? 0);
}

const withTimer = (ride: Ride, timer: Timer): Ride => ({ ...ride, timers: [timer], nextDueAt: timer.dueAt });

/** The lag of event `seq` of each ride, in ms. Then deletes the rides and their jobs. */
async function readLags(
  stack: Stack,
  count: number,
  seq: number,
  dueMs: (ride: Pick<Ride, '_id' | 'events'>) => number,
): Promise<number[]> {
  const found = await rides.find({ seq }, { projection: { 'events.at': 1 } }).toArray();
  assertCount(count, found.length, 'timer lag: steps done');
  const lags = found.map((ride) => (ride.events[seq - 1]?.at.getTime() ?? 0) - dueMs(ride));
  await rides.deleteMany({});
  // These pools do not run here, so their jobs would accumulate.
  for (const pool of ['webhooks', 'bidding'] as const) await stack.queues[pool].obliterate({ force: true });
  return lags;
}

/** Adds jobs of rides that do not exist, due in an hour or later. Otherwise they are like the product's own jobs. */
async function addDelayed(stack: Stack, count: number): Promise<void> {
  for (let start = 0; start < count; start += 2_000) {
    const jobs = Array.from({ length: Math.min(2_000, count - start) }, (_, index) => {
      const rideId = `ride_backlog${start + index}${Math.random()}`;
      const opts = {
        delay: 3_600_000 * (1 + Math.random() * 23),
        deduplication: { id: `${rideId}_offer`, replace: true },
      };
      return { name: `offer ${rideId}`, data: { rideId, timer: 'offer' as const }, opts };
    });
    await stack.queues.simulator.addBulk(jobs);
  }
}
