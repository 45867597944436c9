import type { Context } from '../context.ts';
import { addJob, type PoolName } from '../queues.ts';
import type { Ride } from './ride-types.ts';

/** What of a ride tells which event is to be delivered next. */
export type Outbox = Pick<Ride, '_id' | 'keyId' | 'seq' | 'settledSeq'>;

/**
 * Adds the job for the ride's oldest unsettled event, if it has one. Never fails: the event is in MongoDB, and the
 * sweeper adds what Redis did not take. One job is one attempt of one event. Answers whether nothing was left out.
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

/** The dedupe id of the job for an event, in both queues of deliveries. */
export const deliveryJobId = (rideId: string, seq: number): string => `${rideId}_${seq}`;
