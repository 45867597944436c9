import { setTimeout } from 'node:timers/promises';
import { sweptAtKey } from '../../../shared/process/ops/full-sweep.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { enqueueNextDelivery } from '../../../shared/rides/ride-jobs.ts';
import { progressKey } from '../../../workers/periodic/sweeper/sweeper-progress.ts';
import { sweeperLeaseKey } from '../../../workers/periodic/sweeper/turn.ts';
import { becomes, until } from '../../support/until.ts';
import { assertCount, type Bench, type Measurement } from '../bench.ts';
import { type BenchKey, newKeys } from '../data/keys.ts';
import { insertRides, ridesInBatches, unsettledRide } from '../data/rides.ts';
import { serviceBatch } from '../delivery/batches.ts';
import { warmUpCount } from '../delivery/delivery.ts';
import { type BenchReceiver, startReceiver } from '../delivery/receiver.ts';
import { cpuByProgram } from '../measured/cpu-by-program.ts';
import type { Program } from '../measured/program.ts';
import { type Figure, newFigure } from '../report.ts';
import { producer, type Stack } from '../stack.ts';

const processCounts = [1, 16];
const settleMs = 5_000;
/** Tolerated difference from the order of age: twice the pool's default of 500 concurrent attempts. */
const rankTolerance = 1_000;

/**
 * Rides with unsettled events while the webhooks pool is down: the cost of sweeping in that time, with one worker
 * process of another pool and with many, and the rate and order in which the pool delivers the backlog when it is back.
 */
export const backlog: Measurement = async (bench) => {
  const { stack, quick, say } = bench;
  const size = quick ? 10_000 : 100_000;
  const downSeconds = quick ? 30 : 300;
  const receiver = await startReceiver(stack);
  const keys = await newKeys(1_000, 'live', receiver.url);
  const others = [await startOther(stack, 1)];
  await waitUntilSwept(stack);
  say(`a backlog of ${size.toLocaleString('en-US')} events`);
  await addBacklog(stack, keys, size);
  const jobsBefore = await jobsSoFar(stack);
  const figures: Figure[] = [];
  for (const count of processCounts) {
    while (others.length < count) others.push(await startOther(stack, others.length + 1));
    figures.push(...(await sweepingCost(bench, others, size, downSeconds / processCounts.length)));
  }
  assertCount(size, await stack.queues.webhooks.getWaitingCount(), 'backlog: waiting jobs');
  const env = receiver.senderEnv;
  await stack.start('webhooks', 'workers/main', { args: ['webhooks'], env });
  say('the pool delivers the backlog');
  const othersShare = stack.watchOthers();
  const perSecond = await deliverBacklog(receiver, Math.min(warmUpCount, size / 2), size);
  const othersDuring = othersShare();
  await checkSettled(stack, size);
  const furthest = await furthestOutOfTurn();
  figures.push(newFigure('backlog')('jobs added by sweeping', 'jobs', (await jobsSoFar(stack)) - jobsBefore, '<= 0'));
  await rides.deleteMany({});
  say('the rate of the same pool without a backlog');
  const fresh = await serviceBatch(stack, receiver, keys, quick ? 2_000 : 6_000);
  const floor = [await fresh.run()];
  await fresh.check();
  const figure = newFigure('backlog worked off', othersDuring);
  return [
    ...figures,
    { ...figure('rate (floor: no backlog)', 'a second', perSecond, '>= 0.9'), floor },
    figure('furthest out of turn', 'rides', furthest, `<= ${rankTolerance}`),
  ];
};

const startOther = (stack: Stack, number: number): Promise<Program> =>
  stack.start(`bidding-${number}`, 'workers/main', { args: ['bidding'] });

/** Waits for the first sweep, which is not measured: Redis is empty, so it is a full one. */
async function waitUntilSwept({ redis }: Stack): Promise<void> {
  await until(async () => (await redis.get(sweptAtKey)) !== null);
}

/** Inserts rides, the oldest first, with times a millisecond apart. All are older than the sweeper's tolerance. */
async function addBacklog(stack: Stack, keys: readonly BenchKey[], size: number): Promise<void> {
  const newestMs = Date.now() - 60_000;
  const newRide = (number: number) => unsettledRide(keys[number % keys.length] as BenchKey, newestMs - size + number);
  for (const made of ridesInBatches(size, newRide)) {
    await insertRides(made);
    await Promise.all(made.map((ride) => enqueueNextDelivery(producer(stack), ride)));
  }
}

/** The number of job ids used so far. Every add uses a new id, even if the job already exists. */
async function jobsSoFar({ redis, queues }: Stack): Promise<number> {
  const counts = await Promise.all(
    [queues.webhooks, queues['webhooks-slow']].map((queue) => redis.get(queue.toKey('id'))),
  );
  return counts.reduce((sum, count) => sum + Number(count), 0);
}

/** The CPU use of processes and servers while they sweep, minus their use while nobody may sweep. */
async function sweepingCost(bench: Bench, processes: readonly Program[], size: number, seconds: number) {
  const { stack, say } = bench;
  const name = `sweeping behind ${size.toLocaleString('en-US')} events, ${processes.length} of 16 processes`;
  say(`${name}: without sweeps, ${seconds} s with sweeps, without sweeps`);
  const before = await withoutSweeps(stack, processes, seconds / 4);
  const progress = await stack.redis.get(progressKey);
  const during = await cpuIn(stack, processes, seconds);
  if ((await stack.redis.get(progressKey)) === progress) throw new Error('backlog: no process sweeps');
  // The CPU use of a process falls in its first minutes, so the CPU use without sweeps is the average of a measurement
  // before and one after.
  const after = await withoutSweeps(stack, processes, seconds / 4);
  const names = processes.map((program) => program.name);
  const percent = (...who: string[]) =>
    during.percentOf(...who) - (before.percentOf(...who) + after.percentOf(...who)) / 2;
  const figure = newFigure(name, during.othersShare);
  return [
    figure('CPU', '% of a core', percent(...names), '<= 5'),
    figure('CPU of MongoDB', '% of a core', percent('MongoDB')),
    figure('CPU of Redis', '% of a core', percent('Redis')),
    figure('all that the processes take', '% of a core', during.percentOf(...names)),
  ];
}

/** Measures the CPU use without sweeps: the bench holds the sweepers' lease. */
async function withoutSweeps(stack: Stack, processes: readonly Program[], seconds: number) {
  await stack.redis.set(sweeperLeaseKey, 'the bench', 'PX', 3_600_000);
  await setTimeout(settleMs);
  const cpuUse = await cpuIn(stack, processes, seconds);
  await stack.redis.del(sweeperLeaseKey);
  return cpuUse;
}

async function cpuIn(stack: Stack, processes: readonly Program[], seconds: number) {
  const cpu = await cpuByProgram(stack, processes);
  await setTimeout(seconds * 1_000);
  return cpu.stop();
}

/** The rate of deliveries after the warm-up. */
async function deliverBacklog(receiver: BenchReceiver, warmUp: number, size: number): Promise<number> {
  const waitForCount = async (count: number) => {
    const isReached = await becomes(async () => (await receiver.received()).count >= count, 1_200_000, 50);
    if (!isReached) throw new Error('backlog: not all events were delivered');
    return receiver.received();
  };
  const [warm, all] = [await waitForCount(warmUp), await waitForCount(size)];
  return (all.count - warm.count) / ((all.lastMs - warm.lastMs) / 1_000);
}

async function checkSettled({ queues }: Stack, size: number): Promise<void> {
  await until(async () => (await queues.webhooks.getActiveCount()) === 0);
  const delivered = { settledSeq: 1, unsettled: 0, 'events.delivery.outcome': 'delivered' } as const;
  assertCount(size, await rides.countDocuments(delivered), 'backlog: deliveries recorded in MongoDB');
}

/** The largest difference between a ride's rank by the age of its event and its rank by the time of its claim. */
async function furthestOutOfTurn(): Promise<number> {
  const projection = { 'events.at': 1, 'events.delivery.at': 1 };
  const times = (await rides.find({}, { projection }).toArray()).map(({ events: [event] }) => ({
    at: event?.at.getTime() ?? 0,
    sentAt: event?.delivery?.at.getTime() ?? 0,
  }));
  const byAge = [...times].sort((a, b) => a.at - b.at);
  const byTurn = [...byAge].sort((a, b) => a.sentAt - b.sentAt);
  const turnOf = new Map(byTurn.map((ride, turn) => [ride, turn]));
  return byAge.reduce((furthest, ride, age) => Math.max(furthest, Math.abs((turnOf.get(ride) ?? 0) - age)), 0);
}
