import { setTimeout } from 'node:timers/promises';
import { sweepResultKey } from '../../../shared/process/ops/full-sweep.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { becomes } from '../../support/until.ts';
import { assertCount, type Measurement } from '../bench.ts';
import { type BenchKey, newKeys } from '../data/keys.ts';
import { biddingRide, insertRides, ridesInBatches } from '../data/rides.ts';
import { type Figure, newFigure } from '../report.ts';
import type { Stack } from '../stack.ts';
import { percentile } from '../statistics.ts';

const hourMs = 3_600_000;
const leadMs = 1_800_000;

/**
 * The opening of rides for later, by one worker process for each of the pools bidding and dispatch, while no driver is
 * near and many other rides wait: how late rides open that are due within a minute, also if Redis is emptied in the middle;
 * and how fast rides open that were due while no worker ran.
 */
export const openings: Measurement = async ({ stack, quick, say }) => {
  const [size, spreadMs, waiting] = quick ? [1_000, 6_000, 10_000] : [10_000, 60_000, 100_000];
  const [key] = (await newKeys(1, 'live')) as [BenchKey];
  const count = (value: number) => value.toLocaleString('en-US');
  say(`openings: ${count(waiting)} rides that wait`);
  await insertLater(key, waiting, () => Date.now() + 24 * hourMs * (1 + 29 * Math.random()));
  const start = () => stack.startPools({}, ['bidding', 'dispatch']);
  const workers = await start();
  const visited = await visitedByFullSweep(stack);
  const figures: Figure[] = [
    newFigure('openings')(`rides that a full sweep visits while ${count(waiting)} wait`, 'rides', visited, '<= 0'),
  ];
  for (const isEmptied of [false, true]) {
    const name = `${count(size)} openings in ${spreadMs / 1_000} s${isEmptied ? ', Redis emptied' : ''}`;
    say(name);
    const firstMs = Date.now() + 5_000;
    await insertLater(key, size, () => firstMs + Math.floor(spreadMs * Math.random()));
    if (isEmptied) {
      await setTimeout(firstMs + spreadMs / 2 - Date.now());
      await stack.redis.flushall();
    }
    await setTimeout(firstMs + spreadMs + 3_000 - Date.now());
    const lags = (await takeOpened(size)).map(lagOf);
    const figure = newFigure(name);
    figures.push(figure('lag p99', 'ms', percentile(lags, 0.99)));
    figures.push(figure('lag at most', 'ms', Math.max(...lags), '<= 2000'));
  }
  const overdue = `${count(size)} openings after an hour without workers`;
  say(overdue);
  for (const worker of workers) await worker.stop();
  await insertLater(key, size, () => Date.now() - Math.floor(hourMs * Math.random()));
  await start();
  await becomes(async () => (await rides.countDocuments({ openedAt: { $exists: true } })) === size, 600_000, 100);
  await stack.stopPrograms();
  const opened = (await takeOpened(size)).sort((a, b) => planOf(a) - planOf(b));
  const times = opened.map(openedAtOf);
  const seconds = (Math.max(...times) - Math.min(...times)) / 1_000;
  // In the order of the planned times: the longest time by which a ride opened after a ride planned later.
  let [latest, outOfTurnMs] = [0, 0];
  for (const time of times) {
    outOfTurnMs = Math.max(outOfTurnMs, latest - time);
    latest = Math.max(latest, time);
  }
  const figure = newFigure(overdue);
  return [
    ...figures,
    figure('rate', 'a second', size / seconds),
    figure('furthest out of turn', 'ms', outOfTurnMs, '<= 2000'),
  ];
};

type Opened = Pick<Ride, '_id' | 'biddingOpensAt' | 'openedAt'>;
const planOf = ({ biddingOpensAt }: Opened): number => biddingOpensAt?.getTime() ?? 0;
const openedAtOf = ({ openedAt }: Opened): number => openedAt?.getTime() ?? 0;
const lagOf = (ride: Opened): number => openedAtOf(ride) - planOf(ride);

async function insertLater(key: BenchKey, count: number, opensAtMs: () => number): Promise<void> {
  const newRide = (): Ride => {
    const { nextDueAt: _, ...ride } = biddingRide(key);
    const biddingOpensAt = new Date(opensAtMs());
    const pickupAt = new Date(biddingOpensAt.getTime() + leadMs);
    const biddingEndsAt = new Date(biddingOpensAt.getTime() + 600_000);
    return { ...ride, pickupAt, biddingOpensAt, biddingEndsAt, timers: [{ name: 'open', dueAt: biddingOpensAt }] };
  };
  for (const batch of ridesInBatches(count, newRide)) await insertRides(batch);
}

/** The first sweep is a full one, because Redis is empty. */
async function visitedByFullSweep({ redis }: Stack): Promise<number> {
  for (;;) {
    const result = await redis.get(sweepResultKey);
    if (result) return JSON.parse(result).visited;
    await setTimeout(100);
  }
}

/** Reads and deletes the rides that have opened. */
async function takeOpened(size: number): Promise<Opened[]> {
  const isOpened = { openedAt: { $exists: true } };
  const found = await rides.find<Opened>(isOpened, { projection: { biddingOpensAt: 1, openedAt: 1 } }).toArray();
  assertCount(size, found.length, 'openings: opened rides');
  await rides.deleteMany(isOpened);
  return found;
}
