import { setTimeout } from 'node:timers/promises';
import { type Ride, rides } from '../../../shared/rides/ride.ts';
import { enqueueTimers } from '../../../shared/rides/timers.ts';
import { assertCount, type Bench, type Measurement } from '../bench.ts';
import { type BenchKey, newKeys } from '../data/keys.ts';
import { biddingRide, insertRides } from '../data/rides.ts';
import type { Figure } from '../report.ts';
import { producer, type Stack } from '../stack.ts';
import { median, percentile } from '../statistics.ts';

const perSecond = 125;
const backlogs = [0, 10_000, 100_000];

/**
 * How late a simulated driver's offer is (its event's `at` after its timer's `dueAt`, both on MongoDB's clock) while so
 * many other jobs of the same queue are not due for long.
 */
export const timerLag: Measurement = async (bench) => {
  const { stack } = bench;
  await stack.start('simulator', 'workers/main.js', { args: ['simulator'] });
  const [key] = (await newKeys(1, 'test')) as [BenchKey];
  bench.say('timer lag: warm-up');
  await lagsOf(stack, key, perSecond * 2);
  const figures: Figure[] = [];
  const p99s: number[] = [];
  for (const [index, backlog] of backlogs.entries()) {
    bench.say(`timer lag: adding delayed jobs, ${backlog}`);
    await addDelayed(stack, backlog - (backlogs[index - 1] ?? 0));
    const rounds = await measured(bench, key, backlog);
    const at = (p: number) => rounds.map((lags) => percentile(lags, p));
    const name = `timer lag with ${backlog.toLocaleString('en-US')} other delayed jobs`;
    figures.push({ name: `${name}, p50`, unit: 'ms', service: at(0.5) });
    figures.push({ name: `${name}, p99`, unit: 'ms', service: at(0.99), goal: '<= 25' });
    p99s.push(median(at(0.99)));
  }
  const [service, floor] = [[Math.max(...p99s)], [Math.min(...p99s)]];
  return [...figures, { name: 'timer lag p99, largest (floor: smallest)', unit: 'ms', service, floor, goal: '<= 1.2' }];
};

async function measured(bench: Bench, key: BenchKey, backlog: number): Promise<number[][]> {
  const count = bench.quick ? 1 : bench.rounds;
  const rounds: number[][] = [];
  for (let round = 1; round <= count; round++) {
    bench.say(`timer lag with ${backlog}: round ${round} of ${count}`);
    rounds.push(await lagsOf(bench.stack, key, bench.quick ? 300 : 1_000));
  }
  return rounds;
}

async function lagsOf(stack: Stack, key: BenchKey, count: number): Promise<number[]> {
  const firstMs = Date.now() + 1_500;
  const made = Array.from({ length: count }, (_, index): Ride => {
    // Not in step with the milliseconds, nor with anything else's ticks.
    const dueAt = new Date(firstMs + Math.floor(((index + Math.random()) * 1_000) / perSecond));
    // The partner is to accept: with this scenario nothing follows the offer.
    return { ...biddingRide(key), scenario: 'no_auto_accept', timers: [{ name: 'offer', dueAt }], nextDueAt: dueAt };
  });
  await insertRides(made);
  await Promise.all(made.map((ride) => enqueueTimers(producer(stack), ride, ride.timers, new Date())));
  await setTimeout(firstMs + (count * 1_000) / perSecond + 1_000 - Date.now());
  const offered = await rides.find({ seq: 1 }, { projection: { 'events.at': 1 } }).toArray();
  assertCount(count, offered.length, 'timer lag: offers made');
  const dueOf = new Map(made.map(({ _id, timers }) => [_id, timers[0]?.dueAt.getTime() ?? 0]));
  const lags = offered.map(({ _id, events }) => (events[0]?.at.getTime() ?? 0) - (dueOf.get(_id) ?? 0));
  await rides.deleteMany({});
  // No one delivers here: these jobs would only pile up.
  await stack.queues.webhooks.obliterate({ force: true });
  return lags;
}

/** Jobs of other rides, due in an hour or later: the product's own jobs in all but their rides. */
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
