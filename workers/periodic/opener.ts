import type { Context } from '../../shared/base/context.ts';
import { mongoNow } from '../../shared/base/mongo/clock.ts';
import { applyTimedAction } from '../../shared/rides/apply-action.ts';
import { rides, waitingToOpen } from '../../shared/rides/ride.ts';
import { logFailedPart, startLoop, takeTurn } from './turns.ts';
import { walk } from './walk.ts';

const intervalMs = 500;
/** A turn ends after this many rides that could not be opened. */
const maxIdle = 500;

/**
 * Opens the bidding of rides for later when their time has come, until it is stopped. Every worker process does this; a
 * lease lets one of them open rides at a time. While Redis is down no ride opens, because its bidding time would pass
 * without dispatch rounds.
 */
export function startOpener(ctx: Context): { stop(): Promise<void> } {
  return startLoop(ctx.log, { failure: 'opening rides failed', pauseMs: intervalMs }, async (signal) => {
    if (ctx.redis.status !== 'ready') return intervalMs;
    const lease = { key: '{rides:opener}:lease', restAfterErrorMs: intervalMs };
    await takeTurn(ctx.redis, lease, async ({ keep }) => {
      await openDue(ctx, async () => !signal.aborted && (await keep()));
      return intervalMs / 2;
    });
    return intervalMs / 2;
  });
}

/**
 * Opens all rides that are due, the oldest first. The writes of a page share a few commands. Resolves with the number
 * of opened rides. A ride that fails is logged and left to the next turn.
 */
export async function openDue(ctx: Context, mayContinue: () => Promise<boolean> = async () => true): Promise<number> {
  const now = await mongoNow();
  let opened = 0;
  const visit = async (due: readonly { _id: string }[]) => {
    const results = await Promise.all(due.map(({ _id }) => open(ctx, _id)));
    const done = results.filter(Boolean).length;
    opened += done;
    return done;
  };
  // The filter repeats `until`, so that MongoDB reads no ride that still waits.
  const filter = { ...waitingToOpen, biddingOpensAt: { $lte: now } };
  const along = { collection: rides, by: 'biddingOpensAt', filter, projection: { _id: 1 }, until: now, visit } as const;
  await walk<{ _id: string }>(along, 'front', { maxIdle, mayContinue });
  if (opened > 0) ctx.log.info({ rides: opened }, 'rides opened');
  return opened;
}

async function open(ctx: Context, rideId: string): Promise<boolean> {
  try {
    return (await applyTimedAction(ctx, rideId, 'open', () => ({ action: 'open' }))).result === 'done';
  } catch (error) {
    logFailedPart(ctx.log, 'a ride could not be opened', { rideId }, error);
    return false;
  }
}
