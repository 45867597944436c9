import { setTimeout } from 'node:timers/promises';
import { firstAttemptId, newAttemptId, newRideId } from '../../../shared/base/ids.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { dayMs, summableUntil } from '../../../shared/usage/days.ts';
import { noteSummed } from '../../../shared/usage/usage-progress.ts';
import { type AttemptRecord, attempts } from '../../../shared/webhooks/attempts.ts';
import { retention as retentionWork } from '../../../workers/periodic/retention/retention.ts';
import { usageSums } from '../../../workers/periodic/usage/sum-usage.ts';
import { becomes } from '../../support/until.ts';
import { assertAll, assertCount, type Measurement } from '../bench.ts';
import { type BenchKey, newKeys } from '../data/keys.ts';
import { creation } from '../data/requests.ts';
import { insertRides, ridesInBatches, tripRide } from '../data/rides.ts';
import type { LoadResult } from '../load/load.ts';
import { cpuByProgram } from '../measured/cpu-by-program.ts';
import type { Figure } from '../report.ts';

const eventsOfEach = 5;
const perSecond = 60;
/** These first seconds are excluded from both figures, because a starting process needs a second of CPU time. */
const startSeconds = 6;

/**
 * Creations while the retention erases rides that are 31 days old and deletes rides that are 400 days old, compared
 * with creations while a lease keeps the same worker process from running it. Each of these rides has five attempts.
 */
export const retention: Measurement = async ({ stack, say, quick }) => {
  const [size, seconds] = quick ? [4_000, 6] : [40_000, 40];
  await addOldRides(size, say);
  await noteSummed(summableUntil(Date.now()));
  // The bench holds both leases, so that the worker neither sums these rides nor starts the retention yet.
  await stack.redis.set(usageSums.leaseKey, 'the bench', 'PX', 3_600_000);
  await stack.redis.set(retentionWork.leaseKey, 'the bench', 'PX', 3_600_000);
  const load = await stack.startLoad();
  const api = await stack.startApi();
  const startWorker = () => stack.start('mail', 'workers/main', { args: ['mail'] });
  const idle = await startWorker();

  const phases = [startSeconds, seconds, startSeconds, seconds].map((length) => ({ perSecond, seconds: length }));
  const count = phases.reduce((sum, phase) => sum + phase.perSecond * phase.seconds, 0);
  const requests = (await newKeys(Math.ceil(count / 25), 'live')).map((key) => creation(key));
  say(`creations, ${perSecond} a second, for ${seconds} s without the retention, then ${seconds} s with it`);
  const loaded = load.open(api, { connections: 64, requests, phases });
  await setTimeout((startSeconds + seconds) * 1_000);
  await idle.stop();
  await stack.redis.del(retentionWork.leaseKey);
  const worker = await startWorker();
  await setTimeout(startSeconds * 1_000 - 1_500);
  const before = await leftOf(size);
  const cpu = await cpuByProgram(stack, [api, worker]);
  const startedAt = Date.now();
  const [, without, , beside] = (await loaded) as [LoadResult, LoadResult, LoadResult, LoadResult];
  const used = await cpu.stop();
  const done = before - (await leftOf(size));
  const tookSeconds = (Date.now() - startedAt) / 1_000;
  for (const result of [without, beside]) assertAll(201, result, 'creations beside the retention');
  if (done === 0) throw new Error('retention: nothing was erased during the creations');
  say('waiting for the rest of the retention');
  await becomes(async () => (await leftOf(size)) === 0, 600_000, 500);
  await check(size);
  const figure = (name: string, of: (result: LoadResult) => number): Figure => ({
    name: `creation beside the retention (floor: without), ${name}`,
    unit: 'ms',
    service: [of(beside)],
    floor: [of(without)],
    others: used.othersShare,
  });
  return [
    figure('p50', ({ p50Ms }) => p50Ms),
    figure('p99', ({ p99Ms }) => p99Ms),
    { name: 'retention, rides erased or deleted', unit: 'a second', service: [done / tookSeconds], goal: '>= 120' },
    ...used.perSecondMs.map(([who, ms]) => ({ name: `retention, CPU of ${who}`, unit: 'ms a second', service: [ms] })),
  ];
};

const isOld = { $lt: new Date(Date.now() - 30 * dayMs) };

async function leftOf(size: number): Promise<number> {
  const [erased, deleted] = await Promise.all([
    rides.countDocuments({ erasedAt: { $exists: true }, statusAt: isOld }),
    rides.countDocuments({ statusAt: isOld }).then((kept) => size - kept),
  ]);
  return size - erased - deleted;
}

/** Half of the rides are due for erasure, half for deletion. */
async function addOldRides(size: number, say: (line: string) => void): Promise<void> {
  const [key] = (await newKeys(1, 'live')) as [BenchKey];
  const template = tripRide(key, 'completed');
  const newRide = (number: number): Ride => {
    const at = new Date(Date.now() - (number % 2 ? 31 : 400) * dayMs - number);
    const _id = newRideId(at.getTime());
    return { ...template, _id, trackToken: _id, createdAt: at, statusAt: at };
  };
  for (const batch of ridesInBatches(size, newRide, say)) {
    await insertRides(batch);
    await attempts.insertMany(batch.flatMap(attemptsOf), { ordered: false, writeConcern: { w: 1, journal: false } });
  }
}

const attemptsOf = ({ _id: rideId, accountId, keyId, mode, events, statusAt: at }: Ride): AttemptRecord[] =>
  events.slice(0, eventsOfEach).map(({ seq, event, body }) => ({
    ...{ _id: newAttemptId(at.getTime()), accountId, keyId, mode, kind: 'event', event, rideId, seq, at },
    ...{ outcome: 'delivered', httpStatus: 200, url: 'https://partner.example/', address: '192.0.2.1', body },
    headers: { 'Content-Type': 'application/json', 'X-Service-Signature': 't=1,v1='.padEnd(78, '0') },
    ...{ answer: 'ok', durationMs: 41 },
  }));

async function check(size: number): Promise<void> {
  assertCount(size / 2, await rides.countDocuments({ erasedAt: { $exists: true } }), 'retention: rides erased');
  const old = { _id: { $lt: firstAttemptId(isOld.$lt.getTime()) } };
  assertCount(
    (size / 2) * eventsOfEach,
    await attempts.countDocuments({ ...old, erasedAt: { $exists: true } }),
    'retention: attempts erased',
  );
}
