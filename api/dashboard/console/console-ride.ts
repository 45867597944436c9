import { AppError } from '../../../shared/base/errors.ts';
import { batchedFind } from '../../../shared/base/mongo/batch.ts';
import { committedReads } from '../../../shared/base/mongo/durability.ts';
import { fieldNames, projectionOf } from '../../../shared/rides/fields.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Ride, RideEvent } from '../../../shared/rides/ride-types.ts';
import { type TrackedRide, trackFields } from '../../../web/track/track-state.ts';

const ownFields = {
  accountId: 1,
  keyId: 1,
  origin: 1,
  scenario: 1,
  biddingEndsAt: 1,
  fare: 1,
  firstFare: 1,
  fareRaisedAt: 1,
  carType: 1,
  rideType: 1,
  passengerCount: 1,
  ...projectionOf(fieldNames),
  cancelReason: 1,
  idempotency: 1,
  rev: 1,
  offers: 1,
  agreedPrice: 1,
  driver: 1,
  rebids: 1,
  excludedDrivers: 1,
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
} as const;

/** MongoDB refuses a projection of a field and of its parts. */
const mapFields = Object.fromEntries(
  Object.entries(trackFields).filter(([field]) => !/^(driver|offers)\./.test(field)),
);

/** The fields of a ride that the test console reads, those of its map included, with MongoDB's clock. */
export const consoleFields = { ...mapFields, ...ownFields };

type OwnField = Exclude<keyof typeof ownFields, `events.${string}`>;

export type ConsoleRide = Omit<TrackedRide, 'driver' | 'offers'> & Pick<Ride, OwnField> & { events: RideEvent[] };

const findRide = batchedFind<Ride, ConsoleRide>(rides, '_id', consoleFields, committedReads);

/** Finds a test ride of an account. Throws `not_found` for a ride that is unknown, live, or of another account. */
export async function consoleRide(rideId: string, owner: { accountId: string }): Promise<ConsoleRide> {
  const ride = await findRide(rideId);
  if (ride?.accountId !== owner.accountId || ride.mode !== 'test') throw new AppError('not_found');
  return ride;
}
