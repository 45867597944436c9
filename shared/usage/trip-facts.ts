import { findAmong } from '../base/mongo/collection.ts';
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
  const fields = { reference: 1, pickup: 1, destination: 1 };
  const filter = { accountId, erasedAt: { $exists: false } };
  const found = await findAmong(rides, rideIds, fields, filter, committedReads());
  return new Map(found.map(({ _id, ...facts }) => [_id, facts]));
}
