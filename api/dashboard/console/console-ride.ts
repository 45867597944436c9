import { AppError } from '../../../shared/base/errors.ts';
import { batchedFind } from '../../../shared/base/mongo/batch.ts';
import { committedReads } from '../../../shared/base/mongo/durability.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Ride, RideEvent } from '../../../shared/rides/ride-types.ts';

/** The fields of a ride that the test console reads, with MongoDB's clock. */
export const consoleFields = {
  accountId: 1,
  keyId: 1,
  mode: 1,
  origin: 1,
  scenario: 1,
  trackToken: 1,
  createdAt: 1,
  pickup: 1,
  destination: 1,
  fare: 1,
  firstFare: 1,
  fareRaisedAt: 1,
  carType: 1,
  rideType: 1,
  passengerCount: 1,
  distanceKm: 1,
  notes: 1,
  passenger: 1,
  webhookUrl: 1,
  autoAccept: 1,
  needs: 1,
  rev: 1,
  status: 1,
  offers: 1,
  acceptedOfferId: 1,
  agreedPrice: 1,
  driver: 1,
  cancelledBy: 1,
  timers: 1,
  settledSeq: 1,
  unsettled: 1,
  'events.seq': 1,
  'events.event': 1,
  'events.at': 1,
  'events.clockAt': 1,
  'events.body': 1,
  'events.delivery': 1,
  'events.form': 1,
  now: '$$NOW',
} as const;

export type ConsoleRide = Pick<Ride, '_id' | Exclude<keyof typeof consoleFields, `events.${string}` | 'now'>> & {
  events: RideEvent[];
  now: Date;
};

const findRide = batchedFind<Ride, ConsoleRide>(rides, '_id', consoleFields, committedReads);

/** Finds a test ride of an account. Throws `not_found` for a ride that is unknown, live, or of another account. */
export async function consoleRide(rideId: string, owner: { accountId: string }): Promise<ConsoleRide> {
  const ride = await findRide(rideId);
  if (ride?.accountId !== owner.accountId || ride.mode !== 'test') throw new AppError('not_found');
  return ride;
}
