import type { Context } from '../base/context.ts';
import { addJob, type PoolName } from '../base/queues.ts';
import type { Ride } from './ride-types.ts';

/** The fields of a ride that tell which event is delivered next: number `settledSeq + 1`, if `seq` is that high. */
export type Outbox = Pick<Ride, '_id' | 'keyId' | 'seq' | 'settledSeq'>;

/**
 * Adds the job for the ride's oldest unsettled event, if there is one; a job is one attempt of one event. Never fails:
 * the event is in MongoDB, and the sweeper adds a job that Redis did not take. Resolves with false when Redis did not
 * take it.
 */
export async function enqueueNextDelivery(
  ctx: Context,
  ride: Outbox,
  pool: Extract<PoolName, `webhooks${string}`> = 'webhooks',
  { evenIfActive = false } = {},
): Promise<boolean> {
  if (ride.settledSeq >= ride.seq) return true;
  const seq = ride.settledSeq + 1;
  return addJob(ctx, pool, {
    id: deliveryJobId(ride._id, seq),
    name: `event ${seq} of ${ride._id}`,
    data: { rideId: ride._id, keyId: ride.keyId, seq },
    evenIfActive,
  });
}

/** The dedupe id of an event's job, in both `webhooks` and `webhooks-slow`. */
export const deliveryJobId = (rideId: string, seq: number): string => `${rideId}_${seq}`;
