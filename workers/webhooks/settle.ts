import type { Context } from '../../shared/base/context.ts';
import { describeError } from '../../shared/base/errors.ts';
import { batchedUpdate, batchedWrite, type Update } from '../../shared/base/mongo/batch.ts';
import { committedReads, timeLimit } from '../../shared/base/mongo/durability.ts';
import { isOutageOfMongo, NotYetCommitted } from '../../shared/base/mongo/outage.ts';
import type { DeliveryJob } from '../../shared/base/queues.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Outbox } from '../../shared/rides/ride-jobs.ts';
import type { Delivery, Ride } from '../../shared/rides/ride-types.ts';
import { pause } from '../abort-signal.ts';
import type { Run } from '../handler.ts';

const retryMs = 250;
const commitPauseMs = 30;

/** The delivery as recorded, and the ride's outbox after it; null when the ride is gone. */
export interface Settled {
  delivery: Delivery;
  outbox: Outbox | null;
}

/**
 * Records an event's delivery: an unrecorded attempt would be made again. Retries through an outage of MongoDB until the
 * pool stops. A delivery that MongoDB refuses is tried once more outside a batch, and then replaced by one that says only
 * `unrecordable`. Resolves with null when nothing was recorded. `isLast`: the ride had no newer event when this one was claimed.
 */
export async function settle(
  ctx: Context,
  job: DeliveryJob,
  run: Run,
  delivery: Delivery,
  { isLast = false } = {},
): Promise<Settled | null> {
  const { durationMs, at } = delivery;
  const unrecordable: Delivery = { outcome: 'failed', reason: 'unrecordable', durationMs, at };
  const tries = [
    { delivery, isLast },
    { delivery, alone: true },
    { delivery: unrecordable, alone: true },
  ];
  for (const { delivery: tried, ...how } of tries) {
    try {
      return { delivery: tried, outbox: await settleUntilKnown(ctx, job, run, tried, how) };
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
 * Tries until MongoDB has answered, or the pool stops. Resolves with the ride's outbox, also when an earlier try of this
 * run was written and only its answer was lost.
 */
async function settleUntilKnown(
  ctx: Context,
  { rideId, keyId, seq }: DeliveryJob,
  { token, stopping }: Run,
  delivery: Delivery,
  { isLast = false, alone = false },
): Promise<Outbox | null> {
  for (;;) {
    try {
      if (isLast && (await settleLast(rideId, seq, token, delivery)))
        return { _id: rideId, keyId, seq, settledSeq: seq };
      const settled = await settleEvent(rideId, seq, token, delivery, { alone });
      if (settled) return settled;
      const ride = await readCommitted(rideId);
      // The committed ride still has this run's claim: the outcome is written, but a failover can take it back.
      const isUncommitted = ride && ride.settledSeq < seq && ride.claim?.token === token;
      if (!isUncommitted) return ride;
      if (stopping.aborted) throw new NotYetCommitted();
      await pause(commitPauseMs, stopping);
    } catch (error) {
      if (!isOutageOfMongo(error) || stopping.aborted) throw error;
      ctx.log.debug({ rideId, seq, error: describeError(error) }, 'outcome not recorded yet');
      await pause(retryMs, stopping);
    }
  }
}

const outboxFields = { keyId: 1, seq: 1, settledSeq: 1 } as const;

/** The ride's outbox and claim as no failover can take them back, or null when there is no such ride. */
async function readCommitted(rideId: string): Promise<(Outbox & Pick<Ride, 'claim'>) | null> {
  return rides.findOne({ _id: rideId }, { ...committedReads(), projection: { ...outboxFields, claim: 1 } });
}

const settleInBatch = batchedUpdate<Ride, Outbox>(rides, outboxFields);
const settleAlone = ({ filter, change }: Update<Ride>): Promise<Outbox | null> =>
  rides.findOneAndUpdate(filter, change, { ...timeLimit(), projection: outboxFields, returnDocument: 'after' });

/**
 * Records the outcome of an attempt on its event and ends the claim, in one write. Resolves with the ride's outbox after it,
 * or null when another run has taken over. Only the run that holds the claim can settle, or a run whose claim was forgotten
 * in a restart of MongoDB. `alone` keeps the write out of a batch, which MongoDB may refuse because of another write in it.
 */
export async function settleEvent(
  rideId: string,
  seq: number,
  token: string,
  delivery: Delivery,
  { alone = false } = {},
): Promise<Outbox | null> {
  const update = alone ? settleAlone : settleInBatch;
  return update(settling(rideId, seq, token, delivery));
}

const settleUnread = batchedWrite<Ride>(rides);

/** As `settleEvent`, but only if the event is the ride's last: then none comes next, and the ride need not be read. */
export async function settleLast(rideId: string, seq: number, token: string, delivery: Delivery): Promise<boolean> {
  const { filter, change } = settling(rideId, seq, token, delivery);
  return settleUnread({ filter: { ...filter, seq }, change });
}

function settling(rideId: string, seq: number, token: string, delivery: Delivery): Update<Ride> {
  // Events are numbered from 1 without a gap, so event number seq has the index seq - 1.
  const event = `events.${seq - 1}`;
  return {
    filter: { _id: rideId, settledSeq: seq - 1, [`${event}.seq`]: seq, 'claim.token': { $in: [token, null] } },
    change: {
      $set: {
        [`${event}.delivery`]: delivery,
        settledSeq: seq,
        ...(delivery.outcome !== 'delivered' && { undeliveredAt: delivery.at }),
      },
      $inc: { unsettled: -1 },
      $currentDate: { unsettledSince: true },
      $unset: { claim: '' },
    },
  } as Update<Ride>;
}
