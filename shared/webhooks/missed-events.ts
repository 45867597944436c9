import { timeLimit } from '../base/mongo/durability.ts';
import type { ListedRide } from '../rides/list-rides.ts';
import { type AccountOwner, type AttemptRecord, attempts, ofRide } from './attempts.ts';

/**
 * Drops from each ride's `missed` the events that a resend has delivered. One query, which reads only the attempts of
 * rides with missed events.
 */
export async function withoutResent<Listed extends Pick<ListedRide, '_id' | 'missed'>>(
  rides: readonly Listed[],
  { accountId }: AccountOwner,
): Promise<Listed[]> {
  const rideIds = rides.filter(({ missed }) => missed.length > 0).map(({ _id }) => _id);
  if (rideIds.length === 0) return [...rides];
  const found = await attempts
    .find<Pick<AttemptRecord, 'rideId' | 'seq'>>(
      { rideId: { $in: rideIds }, accountId, kind: 'redelivery', endpointId: { $exists: false }, outcome: 'delivered' },
      { projection: { _id: 0, rideId: 1, seq: 1 }, hint: ofRide, ...timeLimit() },
    )
    .toArray();
  const arrived = new Set(found.map(({ rideId, seq }) => `${rideId} ${seq}`));
  return rides.map((ride) => ({ ...ride, missed: ride.missed.filter((seq) => !arrived.has(`${ride._id} ${seq}`)) }));
}
