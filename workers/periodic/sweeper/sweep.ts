import type { Queue } from 'bullmq';
import type { Context } from '../../../shared/base/context.ts';
import { describeError } from '../../../shared/base/errors.ts';
import { sweeperFindings, sweeps } from '../../../shared/base/metrics.ts';
import { mongoNow } from '../../../shared/base/mongo/clock.ts';
import { isOutageOfMongo } from '../../../shared/base/mongo/outage.ts';
import { poolNames } from '../../../shared/base/queues.ts';
import { isCluster } from '../../../shared/base/redis/redis-nodes.ts';
import { rides } from '../../../shared/rides/ride.ts';
import {
  deliveryJobId,
  enqueueNextDelivery,
  enqueueTimers,
  type Outbox,
  timerJobId,
  timerPool,
  withJob,
} from '../../../shared/rides/ride-jobs.ts';
import type { Claim } from '../../../shared/rides/ride-types.ts';
import { attemptJobId, enqueueAttempt, nextRedeliveries } from '../../../shared/webhooks/attempt-jobs.ts';
import { type AttemptRecord, attempts } from '../../../shared/webhooks/attempts.ts';
import { isSlow } from '../../webhooks/slow-lane.ts';
import { addMissing, type NeededJob } from './add-missing.ts';
import { keepJobIdsUnique } from './job-ids.ts';
import { alongDueTimers, type DueRide, endStalled, hasStalled } from './mongo-work.ts';
import { atFront, type Progress } from './progress.ts';
import { settleDrivers } from './settle-drivers.ts';
import { addWaitingMails } from './waiting-mails.ts';
import { type Position, type Walk, walk } from './walk.ts';

/** A job that is later than this counts as lost. */
const graceMs = 10_000;
/** An ordinary sweep ends after this many rides in each index that had nothing to do. */
const maxIdle = 500;

export interface Swept {
  /** Missing jobs that were added. */
  timers: number;
  deliveries: number;
  attempts: number;
  mails: number;
  /** Trips without progress that were cancelled. */
  stalls: number;
  /** Suspended and revoked drivers whose rides and offers were ended. */
  drivers: number;
  /** Rides and attempts by hand that were read. */
  visited: number;
  /** Rides, drivers, attempts and jobs that failed. Each is logged, and the next sweep tries it again. */
  failed: number;
}

export interface SweepOptions {
  /** A full sweep: visits everything and adds every missing job at once. */
  everything: boolean;
  /** The sweep continues from here and updates it, even if it fails. */
  progress?: Progress;
  /** Called before each page. False ends the sweep. */
  mayGoOn?: () => Promise<boolean>;
}

/**
 * Visits rides and attempts by hand with something left to do, the oldest first, and adds the jobs that no queue holds. An
 * ordinary sweep visits a bounded number of them and adds jobs that are overdue by the grace. With `everything` it visits all of them and adds
 * every missing job, due or not: any job may be lost, or be with a worker that never received it. Throws when MongoDB or
 * Redis is unavailable; while one node of a Redis Cluster is away, the jobs of its queues count as failed.
 */
export async function sweep(ctx: Context, options: SweepOptions): Promise<Swept> {
  const { everything, progress = atFront(), mayGoOn = async () => true } = options;
  const now = await mongoNow();
  const swept: Swept = {
    timers: 0,
    deliveries: 0,
    attempts: 0,
    mails: 0,
    stalls: 0,
    drivers: 0,
    visited: 0,
    failed: 0,
  };
  const current: Sweep = { ctx, everything, now, overdue: new Date(now.getTime() - graceMs), swept };
  await keepAllJobIdsUnique(ctx, now.getTime());
  const bounds = (of: keyof Progress) => ({
    maxIdle: everything ? Number.POSITIVE_INFINITY : maxIdle,
    mayGoOn,
    onProgress: (position: Position) => {
      progress[of] = position;
    },
  });
  try {
    // All at the same time: after an outage, many timers and many events wait.
    await Promise.all([
      endLeaving(current),
      walk(dueTimers(current), progress.timers, bounds('timers')),
      walk(unsettledEvents(current), progress.deliveries, bounds('deliveries')),
      walk(pendingAttempts(current), progress.attempts, bounds('attempts')),
      addWaitingMails(current, mayGoOn),
    ]);
  } finally {
    count(swept);
  }
  return swept;
}

/** A queue whose node of a Redis Cluster is away holds up no other queue. */
async function keepAllJobIdsUnique(ctx: Context, nowMs: number): Promise<void> {
  const kept = poolNames.map((pool) => keepJobIdsUnique(ctx.redis, ctx.queues[pool] as Queue, nowMs));
  if (isCluster(ctx.redis)) await Promise.allSettled(kept);
  else await Promise.all(kept);
}

function count({ visited: _, ...findings }: Swept): void {
  sweeps.inc();
  for (const [finding, found] of Object.entries(findings)) sweeperFindings.inc({ finding }, found);
}

async function endLeaving({ ctx, now, swept }: Sweep): Promise<void> {
  const { settled, failed } = await settleDrivers(ctx, now);
  swept.drivers += settled;
  swept.failed += failed;
}

/** One sweep under way. */
export interface Sweep {
  ctx: Context;
  everything: boolean;
  now: Date;
  overdue: Date;
  swept: Swept;
}

function dueTimers(current: Sweep): Walk<DueRide> {
  const { ctx, everything, now, swept } = current;
  return alongDueTimers(everything ? null : now, async (due) => {
    const needed = await Promise.all(
      due.map((ride) =>
        neededJobs(current, ride, async () => {
          if (!hasStalled(ride, now)) return timerJobs(current, ride);
          if (await endStalled(ctx, ride)) swept.stalls += 1;
          return [];
        }),
      ),
    );
    const added = await add(current, needed.flat());
    swept.timers += added;
    swept.visited += due.length;
    return added;
  });
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

/** A claim that lies ahead of MongoDB's clock has no certain end, so its job looks at it (webhooks/ahead.ts). */
const isHeld = ({ at, until }: Pick<Claim, 'at' | 'until'>, now: Date): boolean => at <= now && until > now;

type UnsettledRide = Outbox & { claim?: Claim };

function unsettledEvents(current: Sweep): Walk<UnsettledRide> {
  const { everything, now, overdue, swept } = current;
  return {
    collection: rides as never,
    by: 'unsettledSince',
    filter: { unsettled: { $gt: 0 } },
    projection: { keyId: 1, seq: 1, settledSeq: 1, claim: 1 },
    until: everything ? null : overdue,
    isAhead: (since) => since.getTime() > now.getTime() + graceMs,
    async visit(unsettled) {
      const needed = await Promise.all(
        unsettled.map((ride) => neededJobs(current, ride, async () => deliveryJob(current, ride))),
      );
      const added = await add(current, needed.flat());
      swept.deliveries += added;
      swept.visited += unsettled.length;
      return added;
    },
  };
}

function deliveryJob({ ctx, now }: Sweep, ride: UnsettledRide): NeededJob[] {
  if (ride.settledSeq >= ride.seq || (ride.claim && isHeld(ride.claim, now))) return [];
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

type PendingAttempt = Pick<AttemptRecord, '_id' | 'keyId' | 'rideId' | 'claim' | 'dueAt'>;

/** A redelivery whose turn in its ride has not come needs no job yet: the one before it adds its job. */
function pendingAttempts(current: Sweep): Walk<PendingAttempt> {
  const { everything, now, overdue, swept } = current;
  return {
    collection: attempts as never,
    by: 'dueAt',
    filter: { dueAt: { $exists: true } },
    projection: { keyId: 1, rideId: 1, claim: 1 },
    until: everything ? null : overdue,
    async visit(pending) {
      const free = pending.filter(({ claim }) => !claim || !isHeld(claim, now));
      const next = await nextRedeliveries(free.flatMap(({ rideId }) => rideId ?? []));
      const isNext = ({ _id, rideId }: PendingAttempt) => rideId === undefined || next.get(rideId)?._id === _id;
      const added = await add(
        current,
        free.filter(isNext).map((attempt) => attemptJob(current, attempt)),
      );
      swept.attempts += added;
      swept.visited += pending.length;
      return added;
    },
  };
}

function attemptJob({ ctx, now }: Sweep, { _id, keyId, dueAt = now }: PendingAttempt): NeededJob {
  return {
    pools: ['webhooks', 'webhooks-slow'],
    id: attemptJobId(_id),
    dueAt: dueAt.getTime(),
    add: async (options) => {
      const pool = (await isSlow(ctx, keyId)) ? 'webhooks-slow' : 'webhooks';
      return enqueueAttempt(ctx, { _id, keyId, dueAt }, pool, options);
    },
  };
}

/** The jobs that a ride needs. A ride that fails is logged and must not keep the sweep from the others. */
async function neededJobs(
  current: Sweep,
  ride: { _id: string },
  find: () => Promise<NeededJob[]>,
): Promise<NeededJob[]> {
  try {
    return await find();
  } catch (error) {
    if (isOutageOfMongo(error)) throw error;
    current.swept.failed += 1;
    current.ctx.log.warn({ rideId: ride._id, error: describeError(error) }, 'a ride could not be swept');
    return [];
  }
}

async function add({ ctx, everything, now, swept }: Sweep, needed: NeededJob[]): Promise<number> {
  const { added, failed } = await addMissing(ctx, needed, { nowMs: now.getTime(), distrustActive: everything });
  swept.failed += failed;
  return added;
}
