import { committedReads } from '../base/mongo/durability.ts';
import { rides } from '../rides/ride.ts';
import type { Ride } from '../rides/ride-types.ts';

/** What a statement shows of a trip but never stores: personal data stays in the ride, where retention erases it. */
export type TripFacts = Pick<Ride, 'reference' | 'pickup' | 'destination'>;

/** The facts of an account's trips by ride id, in one query by ids. Erased, deleted and foreign rides are missing. */
export async function tripFacts(
  rideIds: readonly string[],
  { accountId }: { accountId: string },
): Promise<Map<string, TripFacts>> {
  if (rideIds.length === 0) return new Map();
  const found = await rides
    .find<TripFacts & Pick<Ride, '_id'>>(
      { _id: { $in: [...rideIds] }, accountId, erasedAt: { $exists: false } },
      {
        projection: { reference: 1, pickup: 1, destination: 1 },
        hint: { _id: 1 },
        batchSize: rideIds.length + 1,
        ...committedReads(),
      },
    )
    .toArray();
  return new Map(found.map(({ _id, ...facts }) => [_id, facts]));
}
