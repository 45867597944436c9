import { timeLimit } from '../base/mongo/durability.ts';
import type { ListedRide } from '../rides/list-rides.ts';
import { type AccountOwner, attempts, ofRide, type RecordedOutcome } from './attempts.ts';

/** Names an event of a ride, in a set. */
export const idOf = (rideId: string | undefined, seq: number | undefined): string => `${rideId}_${seq}`;

/** The events (`idOf`) of the account's rides of which a resend to the URL of the ride or key has one of these outcomes. */
export async function resentEvents(
  rideIds: readonly string[],
  { accountId }: AccountOwner,
  outcomes: RecordedOutcome[],
): Promise<Set<string>> {
  if (rideIds.length === 0) return new Set();
  const toDefault = { kind: 'redelivery', endpointId: { $exists: false } } as const;
  const filter = { rideId: { $in: [...rideIds] }, accountId, ...toDefault, outcome: { $in: outcomes } };
  const options = { projection: { _id: 0, rideId: 1, seq: 1 }, hint: ofRide, ...timeLimit() };
  const found = await attempts.find(filter, options).toArray();
  return new Set(found.map(({ rideId, seq }) => idOf(rideId, seq)));
}

/** Drops the `missed` events that a resend has delivered. Reads only the attempts of rides with such events. */
export async function withoutResent<Listed extends Pick<ListedRide, '_id' | 'missed'>>(
  rides: readonly Listed[],
  owner: AccountOwner,
): Promise<Listed[]> {
  const rideIds = rides.filter(({ missed }) => missed.length > 0).map(({ _id }) => _id);
  const arrived = await resentEvents(rideIds, owner, ['delivered']);
  return rides.map((ride) => ({ ...ride, missed: ride.missed.filter((seq) => !arrived.has(idOf(ride._id, seq))) }));
}
