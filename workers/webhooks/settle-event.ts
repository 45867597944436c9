import { pause } from '../../shared/base/abort-signal.ts';
import type { Context } from '../../shared/base/context.ts';
import { batchedUpdate, batchedWrite, type Update } from '../../shared/base/mongo/batch.ts';
import { committedReads, timeLimit } from '../../shared/base/mongo/durability.ts';
import { NotYetCommitted } from '../../shared/base/mongo/outage.ts';
import type { DeliveryJob } from '../../shared/base/queues.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Outbox } from '../../shared/rides/ride-jobs.ts';
import type { Delivery, Ride } from '../../shared/rides/ride-types.ts';
import type { Run } from '../handler.ts';
import { settle } from './settle.ts';

const commitPauseMs = 30;

/** The delivery as recorded, and the ride's outbox after the write; `outbox` is null if the ride no longer exists. */
interface RecordedDelivery {
  delivery: Delivery;
  outbox: Outbox | null;
}

/**
 * Records an event's delivery on its ride and ends the claim. If MongoDB refuses the write, repeats it outside a batch,
 * and then records only the reason `unrecordable`. Resolves with null if nothing was recorded. `isLast`: the ride had
 * no newer event when this one was claimed.
 */
export async function recordDelivery(
  ctx: Context,
  job: DeliveryJob,
  run: Run,
  delivery: Delivery,
  { isLast }: { isLast: boolean },
): Promise<RecordedDelivery | null> {
  const { durationMs, at } = delivery;
  const unrecordable: Delivery = { outcome: 'failed', reason: 'unrecordable', durationMs, at };
  const tries = [
    { delivery, isLast },
    { delivery, unbatched: true },
    { delivery: unrecordable, unbatched: true },
  ];
  const writes = tries.map(({ delivery, ...how }) => ({
    fields: { outcome: delivery.outcome, reason: delivery.reason },
    write: async () => ({ delivery, outbox: await settleOnce(job, run, delivery, how) }),
  }));
  return settle(ctx, job, run, 'MongoDB refuses the outcome of a delivery', writes);
}

/**
 * Settles an event, and waits until no failover can roll that back. Resolves with the ride's outbox, even if an earlier
 * write of this run settled the event and only its reply was lost.
 */
async function settleOnce(
  { rideId, keyId, seq }: DeliveryJob,
  { token, stopping }: Run,
  delivery: Delivery,
  { isLast = false, unbatched = false },
): Promise<Outbox | null> {
  for (;;) {
    if (isLast && (await settleLast(rideId, seq, token, delivery))) return { _id: rideId, keyId, seq, settledSeq: seq };
    const settled = await settleEvent(rideId, seq, token, delivery, { unbatched });
    if (settled) return settled;
    const ride = await readCommitted(rideId);
    // The committed state of the ride still has this run's claim: the outcome is written, but a failover can still roll
    // it back.
    const isUncommitted = ride && ride.settledSeq < seq && ride.claim?.token === token;
    if (!isUncommitted) return ride;
    if (stopping.aborted) throw new NotYetCommitted();
    await pause(commitPauseMs, stopping);
  }
}

const outboxFields = { keyId: 1, seq: 1, settledSeq: 1 } as const;

/** The ride's outbox and claim in the state that no failover can roll back, or null if the ride does not exist. */
async function readCommitted(rideId: string): Promise<(Outbox & Pick<Ride, 'claim'>) | null> {
  return rides.findOne({ _id: rideId }, { ...committedReads(), projection: { ...outboxFields, claim: 1 } });
}

const settleInBatch = batchedUpdate<Ride, Outbox>(rides, outboxFields);
const settleUnbatched = ({ filter, change }: Update<Ride>): Promise<Outbox | null> =>
  rides.findOneAndUpdate(filter, change, { ...timeLimit(), projection: outboxFields, returnDocument: 'after' });

/**
 * Records the outcome of an attempt on its event and ends the claim, in one write. Resolves with the ride's outbox
 * after the write, or with null if another run has claimed the event. A run can settle only while it holds the claim,
 * or if a restart of MongoDB lost the claim. `unbatched` sends the write on its own, because MongoDB may refuse a whole
 * batch for another write in it.
 */
export async function settleEvent(
  rideId: string,
  seq: number,
  token: string,
  delivery: Delivery,
  { unbatched = false } = {},
): Promise<Outbox | null> {
  const update = unbatched ? settleUnbatched : settleInBatch;
  return update(settleUpdate(rideId, seq, token, delivery));
}

const settleUnread = batchedWrite<Ride>(rides);

/**
 * Like `settleEvent`, but does nothing unless the event is the ride's last one. The ride need not be read, because no
 * event follows. Resolves with true if it settled the event.
 */
export async function settleLast(rideId: string, seq: number, token: string, delivery: Delivery): Promise<boolean> {
  const { filter, change } = settleUpdate(rideId, seq, token, delivery);
  return settleUnread({ filter: { ...filter, seq }, change });
}

function settleUpdate(rideId: string, seq: number, token: string, delivery: Delivery): Update<Ride> {
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
