import type { Context } from '../shared/context.ts';
import { describeError } from '../shared/errors.ts';
import { mongoNow } from '../shared/mongo.ts';
import { fireTimer } from '../shared/rides/fire-timer.ts';
import { enqueueNextDelivery, type Outbox } from '../shared/rides/outbox.ts';
import { type Claim, type RideState, rides } from '../shared/rides/ride.ts';
import { enqueueTimers, withJob } from '../shared/rides/timers.ts';
import { isSlow } from '../shared/webhooks/slow-keys.ts';

/** So long a job may be late before it is taken for lost. */
const graceMs = 10_000;
/** So many rides are looked at side by side, and between two batches the lease is renewed. */
const batchSize = 100;

export interface Swept {
  timers: number;
  deliveries: number;
  stalls: number;
  /** Rides that could not be seen to; the next sweep comes by them again. */
  failed: number;
  /** Every ride was seen to, and Redis took every job. */
  isComplete: boolean;
}

/**
 * Looks at all rides with something left to do. Usually it adds what is overdue by the grace; with `everything`, at once
 * and also what is not due yet, since every job may be gone, or be with a worker that never heard of it. Adding a job that
 * waits changes nothing. It ends early where `mayGoOn` says so.
 */
export async function sweep(
  ctx: Context,
  { everything, mayGoOn = async () => true }: { everything: boolean; mayGoOn?: () => Promise<boolean> },
): Promise<Swept> {
  const now = await mongoNow();
  const overdue = new Date(now.getTime() - graceMs);
  const swept: Swept = { timers: 0, deliveries: 0, stalls: 0, failed: 0, isComplete: true };
  // One ride that fails must not hide the others.
  const failed = (error: unknown) => {
    swept.failed += 1;
    if (swept.failed === 1) ctx.log.warn({ error: describeError(error) }, 'a ride could not be swept');
  };
  const visitDue = (ride: DueRide) => sweepTimers(ctx, swept, ride, now, everything ? null : overdue).catch(failed);
  const visitUnsettled = (ride: UnsettledRide) =>
    sweepDelivery(ctx, swept, ride, now, everything ? null : overdue).catch(failed);
  // Side by side: after an outage many of both wait, and what is due comes before what is not.
  const ended = await Promise.all([
    walk(dueRides(now, everything), visitDue, mayGoOn),
    walk(unsettledRides(), visitUnsettled, mayGoOn),
  ]);
  swept.isComplete &&= ended.every(Boolean) && swept.failed === 0;
  return swept;
}

/** Some rides at a time; answers whether it came to the end. */
async function walk<T>(
  cursor: AsyncIterable<T>,
  visit: (ride: T) => Promise<void>,
  mayGoOn: () => Promise<boolean>,
): Promise<boolean> {
  let batch: Promise<void>[] = [];
  for await (const ride of cursor) {
    batch.push(visit(ride));
    if (batch.length < batchSize) continue;
    await Promise.all(batch);
    batch = [];
    if (!(await mayGoOn())) return false;
  }
  await Promise.all(batch);
  return true;
}

type DueRide = Pick<RideState, '_id' | 'timers'>;

const dueRides = (now: Date, everything: boolean) =>
  rides.find<DueRide>(
    { nextDueAt: { $exists: true, ...(!everything && { $lte: now }) } },
    { projection: { timers: 1 }, sort: { nextDueAt: 1, _id: 1 } },
  );

async function sweepTimers(ctx: Context, swept: Swept, ride: DueRide, now: Date, overdue: Date | null): Promise<void> {
  // Nothing else ends a trip that makes no progress, so there is no job to wait for.
  if (ride.timers.some(({ name, dueAt }) => name === 'stall' && dueAt <= now)) {
    const fired = await fireTimer(ctx, ride._id, 'stall');
    if (fired.result === 'done') swept.stalls += 1;
    return;
  }
  const missing = withJob(ride.timers).filter(({ dueAt }) => !overdue || dueAt <= overdue);
  const taken = await enqueueTimers(ctx, ride, missing, { evenIfActive: overdue === null });
  swept.isComplete &&= taken;
  swept.timers += missing.length;
}

type UnsettledRide = Outbox & { oldestAt: Date; claim?: Claim };

const unsettledRides = () =>
  rides.find<UnsettledRide>(
    { unsettled: { $gt: 0 } },
    {
      projection: {
        keyId: 1,
        seq: 1,
        settledSeq: 1,
        claim: 1,
        oldestAt: { $arrayElemAt: ['$events.at', '$settledSeq'] },
      },
      sort: { unsettled: 1, _id: 1 },
    },
  );

async function sweepDelivery(
  ctx: Context,
  swept: Swept,
  ride: UnsettledRide,
  now: Date,
  overdue: Date | null,
): Promise<void> {
  if ((overdue && ride.oldestAt > overdue) || (ride.claim && ride.claim.until > now)) return;
  const pool = (await isSlow(ctx, ride.keyId)) ? 'webhooks-slow' : 'webhooks';
  const taken = await enqueueNextDelivery(ctx, ride, pool, { evenIfActive: overdue === null });
  swept.isComplete &&= taken;
  swept.deliveries += 1;
}
