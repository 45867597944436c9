import { batchedFind } from '../batch.ts';
import { rides } from './ride.ts';
import type { Ride, RideState } from './ride-types.ts';

/**
 * On whose behalf a ride is read or changed: for a key, a ride of another key counts as unknown (contract, section
 * 5.7); for a driver, a ride that was not opened to that driver does. `anyone` is for the service itself: timers, the
 * simulated driver.
 */
export type RideOwner = { keyId: string } | { driverId: string } | 'anyone';

export interface RideRef {
  rideId: string;
  owner: RideOwner;
}

/** Names every field of RideState, because a projection that adds `$$NOW` must name the fields it keeps. */
const stateFields: Record<keyof RideState, 1> = {
  _id: 1,
  keyId: 1,
  accountId: 1,
  mode: 1,
  scenario: 1,
  idempotency: 1,
  origin: 1,
  trackToken: 1,
  createdAt: 1,
  biddingEndsAt: 1,
  pickup: 1,
  destination: 1,
  fare: 1,
  carType: 1,
  rideType: 1,
  passengerCount: 1,
  distanceKm: 1,
  notes: 1,
  passenger: 1,
  webhookUrl: 1,
  reference: 1,
  metadata: 1,
  autoAccept: 1,
  rev: 1,
  status: 1,
  statusAt: 1,
  offers: 1,
  acceptedOfferId: 1,
  agreedPrice: 1,
  driver: 1,
  leg: 1,
  cancelledBy: 1,
  firstFare: 1,
  fareRaisedAt: 1,
  asked: 1,
  rounds: 1,
  lastPosition: 1,
  timers: 1,
  nextDueAt: 1,
  lastEventAt: 1,
  seq: 1,
  settledSeq: 1,
  unsettled: 1,
  claim: 1,
};

const findWithClock = batchedFind<Ride, RideState & { now: Date }>(rides, '_id', { ...stateFields, now: '$$NOW' });

/**
 * Reads a ride together with MongoDB's clock. Resolves with null when the ride is unknown or belongs to another owner.
 */
export async function readRide({ rideId, owner }: RideRef): Promise<{ ride: RideState; now: Date } | null> {
  const found = await findWithClock(rideId);
  if (!found || !isFor(found, owner)) return null;
  const { now, ...ride } = found;
  return { ride, now };
}

function isFor({ keyId, mode, driver, asked = [] }: RideState, owner: RideOwner): boolean {
  if (owner === 'anyone') return true;
  if ('keyId' in owner) return keyId === owner.keyId;
  const { driverId } = owner;
  return mode === 'live' && (driver?.driverId === driverId || asked.some((each) => each.driverId === driverId));
}
