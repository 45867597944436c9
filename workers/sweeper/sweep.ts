import type { Queue } from 'bullmq';
import type { Context } from '../../shared/context.ts';
import { describeError } from '../../shared/errors.ts';
import { mongoNow } from '../../shared/mongo/clock.ts';
import { isOutageOfMongo } from '../../shared/mongo/outage.ts';
import { poolNames } from '../../shared/queues.ts';
import { fireTimer } from '../../shared/rides/fire-timer.ts';
import { deliveryJobId, enqueueNextDelivery, type Outbox } from '../../shared/rides/outbox.ts';
import type { Claim, RideState } from '../../shared/rides/ride-types.ts';
import { enqueueTimers, timerJobId, timerPool, withJob } from '../../shared/rides/timers.ts';
import { isSlow } from '../webhooks/slow-keys.ts';
import { addMissing, type NeededJob } from './add-missing.ts';
import { keepJobIdsUnique } from './job-ids.ts';
import { type Position, type Walk, walk } from './walk.ts';

/** A job that is later than this is taken for lost. */
const graceMs = 10_000;
/** An ordinary sweep ends after this many rides in each index for which there was nothing to do. */
const maxIdle = 500;

export interface Swept {
  /** Jobs that were missing and are added. */
  timers: number;
  deliveries: number;
  /** Trips without progress that are ended. */
  stalls: number;
  /** Rides that were looked at. */
  visited: number;
  /** What could not be seen to; it is logged, and the next sweep comes by it again. */
  failed: number;
}

/** How far the walks along both indexes have come. */
export interface Progress {
  timers: Position;
  deliveries: Position;
}

export const atFront = (): Progress => ({ timers: 'front', deliveries: 'front' });

export interface SweepOptions {
  everything: boolean;
  /** The sweep goes on from here, and keeps it up to date, also where it fails. */
  progress?: Progress;
  /** Asked before each stretch of rides. */
  mayGoOn?: () => Promise<boolean>;
}

/**
 * Looks at rides with something left to do, the oldest first, and adds the jobs that no queue holds. Usually it adds what
 * is overdue by the grace, and looks at a bounded number of rides. With `everything` it looks at all of them and adds at
 * once, also what is not due yet, since every job may be gone or be with a worker that never heard of it. Throws where
 * MongoDB or Redis is away.
 */
export async function sweep(ctx: Context, options: SweepOptions): Promise<Swept> {
  const { everything, progress = atFront(), mayGoOn = async () => true } = options;
  const now = await mongoNow();
  const swept: Swept = { timers: 0, deliveries: 0, stalls: 0, visited: 0, failed: 0 };
  const one: Sweep = { ctx, everything, now, overdue: new Date(now.getTime() - graceMs), swept };
  await Promise.all(poolNames.map((pool) => keepJobIdsUnique(ctx.redis, ctx.queues[pool] as Queue, now.getTime())));
  const bounds = (of: keyof Progress) => ({
    maxIdle: everything ? Number.POSITIVE_INFINITY : maxIdle,
    mayGoOn,
    reached: (position: Position) => {
      progress[of] = position;
    },
  });
  // Side by side: after an outage many of both wait.
  await Promise.all([
    walk(dueTimers(one), progress.timers, bounds('timers')),
    walk(unsettledEvents(one), progress.deliveries, bounds('deliveries')),
  ]);
  return swept;
}

/** One sweep under way. */
interface Sweep {
  ctx: Context;
  everything: boolean;
  now: Date;
  overdue: Date;
  swept: Swept;
}

type DueRide = Pick<RideState, '_id' | 'timers'>;

function dueTimers(one: Sweep): Walk<DueRide> {
  const { everything, now, swept } = one;
  return {
    by: 'nextDueAt',
    filter: { nextDueAt: { $exists: true } },
    projection: { timers: 1 },
    until: everything ? null : now,
    async visit(rides) {
      const needed = await Promise.all(
        rides.map((ride) =>
          seenTo(one, ride, async () => {
            const hasStalled = ride.timers.some(({ name, dueAt }) => name === 'stall' && dueAt <= now);
            return hasStalled ? endStalled(one, ride) : timerJobs(one, ride);
          }),
        ),
      );
      const added = await add(one, needed.flat());
      swept.timers += added;
      swept.visited += rides.length;
      return added;
    },
  };
}

/** Nothing else ends a trip that makes no progress, so there is no job to look for. */
async function endStalled({ ctx, swept }: Sweep, ride: DueRide): Promise<NeededJob[]> {
  const fired = await fireTimer(ctx, ride._id, 'stall', () => ({ action: 'cancel', by: 'timeout' }));
  if (fired.result === 'done') swept.stalls += 1;
  return [];
}

function timerJobs({ ctx, everything, overdue }: Sweep, ride: DueRide): NeededJob[] {
  const wanted = withJob(ride.timers).filter(({ dueAt }) => everything || dueAt <= overdue);
  return wanted.map((timer) => ({
    pools: [timerPool(timer.name)],
    id: timerJobId(ride._id, timer.name),
    dueAt: timer.dueAt.getTime(),
    add: (options) => enqueueTimers(ctx, ride, [timer], options),
  }));
}

type UnsettledRide = Outbox & { claim?: Claim };

function unsettledEvents(one: Sweep): Walk<UnsettledRide> {
  const { everything, overdue, swept } = one;
  return {
    by: 'unsettledSince',
    filter: { unsettled: { $gt: 0 } },
    projection: { keyId: 1, seq: 1, settledSeq: 1, claim: 1 },
    until: everything ? null : overdue,
    async visit(rides) {
      const needed = await Promise.all(rides.map((ride) => seenTo(one, ride, async () => deliveryJob(one, ride))));
      const added = await add(one, needed.flat());
      swept.deliveries += added;
      swept.visited += rides.length;
      return added;
    },
  };
}

function deliveryJob({ ctx, now }: Sweep, ride: UnsettledRide): NeededJob[] {
  if (ride.settledSeq >= ride.seq || (ride.claim && ride.claim.until > now)) return [];
  return [
    {
      pools: ['webhooks', 'webhooks-slow'],
      id: deliveryJobId(ride._id, ride.settledSeq + 1),
      dueAt: now.getTime(),
      add: async (options) => {
        const pool = (await isSlow(ctx, ride.keyId)) ? 'webhooks-slow' : 'webhooks';
        return enqueueNextDelivery(ctx, ride, pool, options);
      },
    },
  ];
}

/** One ride that fails must not hide the others. */
async function seenTo(one: Sweep, ride: { _id: string }, look: () => Promise<NeededJob[]>): Promise<NeededJob[]> {
  try {
    return await look();
  } catch (error) {
    if (isOutageOfMongo(error)) throw error;
    one.swept.failed += 1;
    one.ctx.log.warn({ rideId: ride._id, error: describeError(error) }, 'a ride could not be swept');
    return [];
  }
}

async function add({ ctx, everything, now, swept }: Sweep, needed: NeededJob[]): Promise<number> {
  const { added, failed } = await addMissing(ctx, needed, { nowMs: now.getTime(), distrustActive: everything });
  swept.failed += failed;
  return added;
}
