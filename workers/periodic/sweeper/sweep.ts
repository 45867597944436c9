import type { Queue } from 'bullmq';
import type { Context } from '../../../shared/base/context.ts';
import { sweeperFindings, sweeps } from '../../../shared/base/metrics.ts';
import { mongoNow } from '../../../shared/base/mongo/clock.ts';
import { poolNames } from '../../../shared/base/queues.ts';
import { isCluster } from '../../../shared/base/redis/redis-nodes.ts';
import { type Position, walk } from '../walk.ts';
import { keepJobIdsUnique } from './find-jobs.ts';
import { settleDrivers } from './mongo-work.ts';
import { dueTimers, pendingAttempts, type Sweep, type Swept, unsettledEvents, waitingMails } from './needed-jobs.ts';
import { atFront, type Progress } from './progress.ts';

/** A job that is later than this counts as lost. */
const graceMs = 10_000;
/** An ordinary sweep ends after this many rides in each index that had nothing to do. */
const maxIdle = 500;

interface SweepOptions {
  /** A full sweep: visits everything and adds every missing job at once. */
  everything: boolean;
  /** The sweep continues from here and updates it, even if it fails. */
  progress?: Progress;
  /** Called before each page. False ends the sweep. */
  mayGoOn?: () => Promise<boolean>;
}

/**
 * Visits rides, test events, resends and mails with something left to do, the oldest first, and adds the jobs that no queue
 * holds. An ordinary sweep visits a bounded number of them and adds jobs that are overdue by the grace. With `everything` it
 * visits all of them and adds every missing job, due or not: any job may be lost, or be with a worker that never received it.
 * Throws when MongoDB or Redis is unavailable; while one node of a Redis Cluster is away, the jobs of its queues count as
 * failed.
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
  const fromNow = (ms: number) => new Date(now.getTime() + ms);
  const current: Sweep = { ctx, everything, now, overdue: fromNow(-graceMs), ahead: fromNow(graceMs), swept };
  await keepAllJobIdsUnique(ctx, now.getTime());
  const bounds = (of: keyof Progress) => ({
    maxIdle: everything ? Number.POSITIVE_INFINITY : maxIdle,
    mayGoOn,
    onProgress: (position: Position) => {
      progress[of] = position;
    },
  });
  // An ordinary sweep looks at one page of mails: they are few, and leave the front of the index when they are sent.
  const boundsOfMails = { maxIdle: everything ? Number.POSITIVE_INFINITY : 1, mayGoOn };
  try {
    // All at the same time: after an outage, many timers and many events wait.
    await Promise.all([
      endLeaving(current),
      walk(dueTimers(current), progress.timers, bounds('timers')),
      walk(unsettledEvents(current), progress.deliveries, bounds('deliveries')),
      walk(pendingAttempts(current), progress.attempts, bounds('attempts')),
      walk(waitingMails(current), 'front', boundsOfMails),
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

async function endLeaving({ ctx, now, swept }: Sweep): Promise<void> {
  const { settled, failed } = await settleDrivers(ctx, now);
  swept.drivers += settled;
  swept.failed += failed;
}

function count({ visited: _, ...findings }: Swept): void {
  sweeps.inc();
  for (const [finding, found] of Object.entries(findings)) sweeperFindings.inc({ finding }, found);
}
