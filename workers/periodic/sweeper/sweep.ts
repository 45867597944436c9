import type { Queue } from 'bullmq';
import type { Context } from '../../../shared/base/context.ts';
import { sweeperFindings, sweeps } from '../../../shared/base/metrics.ts';
import { mongoNow } from '../../../shared/base/mongo/clock.ts';
import { poolNames } from '../../../shared/base/queues.ts';
import { isCluster } from '../../../shared/base/redis/redis-nodes.ts';
import { type WalkCursor, walk } from '../walk.ts';
import { keepJobIdsUnique } from './find-jobs.ts';
import { settleDrivers } from './mongo-work.ts';
import {
  dueTimers,
  type Findings,
  pendingAttempts,
  type Sweep,
  unsettledEvents,
  waitingMails,
  waitingMessages,
} from './needed-jobs.ts';
import { atFront, type Progress } from './sweeper-progress.ts';

/** A job that is late by more than this counts as lost. */
const graceMs = 10_000;
/** An ordinary sweep stops in each index after this many documents for which there is nothing to do. */
const maxIdle = 500;

interface SweepOptions {
  /** True for a full sweep, which visits everything and adds every missing job without the grace time. */
  everything: boolean;
  /** The sweep continues from these cursors and updates them, even if it fails. */
  progress?: Progress;
  /** Called before each page. If it resolves with false, the sweep ends. */
  mayContinue?: () => Promise<boolean>;
}

/**
 * Visits the rides, test events, redeliveries, mails and messages with pending work, the oldest first, and adds the jobs that no
 * queue holds. An ordinary sweep visits a limited number of them and adds jobs that are overdue by the grace time.
 *
 * With `everything`, visits all of them and adds every missing job, due or not: after an outage any job may be lost, or
 * be marked as active although its worker never received it.
 *
 * Throws if MongoDB or Redis is unavailable. While only one node of a Redis Cluster is unavailable, the jobs of its
 * queues count as failed.
 */
export async function sweep(ctx: Context, options: SweepOptions): Promise<Findings> {
  const { everything, progress = atFront(), mayContinue = async () => true } = options;
  const now = await mongoNow();
  const swept: Findings = {
    timers: 0,
    deliveries: 0,
    attempts: 0,
    mails: 0,
    messages: 0,
    stalls: 0,
    drivers: 0,
    visited: 0,
    failed: 0,
  };
  const fromNow = (ms: number) => new Date(now.getTime() + ms);
  const current: Sweep = { ctx, everything, now, overdue: fromNow(-graceMs), ahead: fromNow(graceMs), swept };
  await keepAllJobIdsUnique(ctx, now.getTime());
  const bounds = (of: keyof Progress) => ({
    maxIdle: everything ? Number.POSITIVE_INFINITY : maxIdle,
    mayContinue,
    onProgress: (cursor: WalkCursor) => {
      progress[of] = cursor;
    },
  });
  // An ordinary sweep stops after one page of mails or messages without work, because few wait.
  const boundsOfMails = { maxIdle: everything ? Number.POSITIVE_INFINITY : 1, mayContinue };
  try {
    // The walks run at the same time, because after an outage both many timers and many events are pending.
    await Promise.all([
      settleInactiveDrivers(current),
      walk(dueTimers(current), progress.timers, bounds('timers')),
      walk(unsettledEvents(current), progress.deliveries, bounds('deliveries')),
      walk(pendingAttempts(current), progress.attempts, bounds('attempts')),
      walk(waitingMails(current), 'front', boundsOfMails),
      walk(waitingMessages(current), 'front', boundsOfMails),
    ]);
  } finally {
    count(swept);
  }
  return swept;
}

/** An unavailable node of a Redis Cluster must not block the queues of the other nodes. */
async function keepAllJobIdsUnique(ctx: Context, nowMs: number): Promise<void> {
  const kept = poolNames.map((pool) => keepJobIdsUnique(ctx.redis, ctx.queues[pool] as Queue, nowMs));
  if (isCluster(ctx.redis)) await Promise.allSettled(kept);
  else await Promise.all(kept);
}

async function settleInactiveDrivers({ ctx, now, swept }: Sweep): Promise<void> {
  const { settled, failed } = await settleDrivers(ctx, now);
  swept.drivers += settled;
  swept.failed += failed;
}

function count({ visited: _, ...findings }: Findings): void {
  sweeps.inc();
  for (const [finding, found] of Object.entries(findings)) sweeperFindings.inc({ finding }, found);
}
