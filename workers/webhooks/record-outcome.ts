import type { Context } from '../../shared/context.ts';
import { describeError } from '../../shared/errors.ts';
import { isOutageOfMongo, NotYetCommitted } from '../../shared/mongo/outage.ts';
import type { DeliveryJob } from '../../shared/queues.ts';
import type { Outbox } from '../../shared/rides/outbox.ts';
import type { Delivery } from '../../shared/rides/ride-types.ts';
import { pause } from '../deadline.ts';
import type { Run } from '../handler.ts';
import { readCommittedOutbox, settleEvent } from './claim.ts';

const retryMs = 250;
const commitPauseMs = 30;

export interface Recorded {
  delivery: Delivery;
  outbox: Outbox | null;
}

/**
 * Records what was sent, or it is sent again. An outage of MongoDB is waited out, until the pool stops. An outcome that
 * MongoDB refuses is tried once more by itself, and then replaced by one that says only that. Resolves with what was
 * recorded and the ride's outbox, or null where nothing was.
 */
export async function recordOutcome(
  ctx: Context,
  job: DeliveryJob,
  run: Run,
  delivery: Delivery,
): Promise<Recorded | null> {
  const { durationMs, at } = delivery;
  const unrecordable: Delivery = { outcome: 'failed', reason: 'unrecordable', durationMs, at };
  const tries = [{ delivery }, { delivery, alone: true }, { delivery: unrecordable, alone: true }];
  for (const { delivery: tried, alone } of tries) {
    try {
      return { delivery: tried, outbox: await settle(ctx, job, run, tried, alone) };
    } catch (error) {
      const fields = { ...job, outcome: tried.outcome, reason: tried.reason, error: describeError(error) };
      if (isOutageOfMongo(error)) {
        ctx.log.warn(fields, 'stopped before the outcome was recorded: the attempt will be made again');
        return null;
      }
      ctx.log.error(fields, 'MongoDB refuses the outcome of a delivery');
    }
  }
  return null;
}

/**
 * Tries until MongoDB has answered, or the pool stops. Resolves with the ride's outbox also where this run's own first try
 * had arrived and only its answer was lost.
 */
async function settle(
  ctx: Context,
  { rideId, seq }: DeliveryJob,
  { token, stopping }: Run,
  delivery: Delivery,
  alone = false,
): Promise<Outbox | null> {
  for (;;) {
    try {
      const settled = await settleEvent(rideId, seq, token, delivery, { alone });
      if (settled) return settled;
      const standing = await readCommittedOutbox(rideId);
      // Under this run's own claim the outcome is written, but a failover can still take it back.
      if (!standing || standing.settledSeq >= seq || standing.claim?.token !== token) return standing;
      if (stopping.aborted) throw new NotYetCommitted();
      await pause(commitPauseMs, stopping);
    } catch (error) {
      if (!isOutageOfMongo(error) || stopping.aborted) throw error;
      ctx.log.debug({ rideId, seq, error: describeError(error) }, 'outcome not recorded yet');
      await pause(retryMs, stopping);
    }
  }
}
