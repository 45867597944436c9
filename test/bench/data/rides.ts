import mongoose from 'mongoose';
import { greatCircleKm } from '../../../shared/base/great-circle.ts';
import { eventId, newDriverId, newOfferId, newRideId, newTrackToken } from '../../../shared/base/ids.ts';
import type { EventName } from '../../../shared/base/terms.ts';
import { eventBody } from '../../../shared/rides/events.ts';
import { legBetween } from '../../../shared/rides/position.ts';
import { rides as storedRides } from '../../../shared/rides/ride.ts';
import type { Driver, Offer, Ride, RideEvent, RideStatus } from '../../../shared/rides/ride-types.ts';
import type { BenchKey } from './keys.ts';

const place = (lat: number, lng: number, address: string) => ({ lat, lng, address });
const pickup = place(40.758, -73.9855, 'Times Square, New York');
const destination = place(40.7128, -74.006, 'City Hall, New York');

/** The body of a creation, with the fields that most requests have. */
export const rideRequest = { pickup, destination, fare: 24.5, passenger: { name: 'Ada', phone: '+12025550100' } };

/** Each ride needs its own driver, because a driver can have only one live trip. */
const newDriver = (): Driver => ({
  driverId: newDriverId(),
  name: 'Alex Rivera',
  phone: '+12025550143',
  rating: 4.9,
  vehicle: 'Toyota Camry, silver',
  plate: 'TST 1043',
});

/** A ride that still accepts offers and has no timer due soon. */
export function biddingRide(key: BenchKey, offers = 0, nowMs = Date.now()): Ride {
  const createdAt = new Date(nowMs);
  const biddingEndsAt = new Date(nowMs + 3_600_000);
  return {
    _id: newRideId(nowMs),
    keyId: key.keyId,
    accountId: key.accountId,
    mode: key.mode,
    ...rideRequest,
    carType: 'regular',
    rideType: 'standard',
    passengerCount: 1,
    distanceKm: greatCircleKm(pickup, destination),
    trackToken: newTrackToken(),
    createdAt,
    biddingEndsAt,
    rev: offers,
    status: 'bidding',
    statusAt: createdAt,
    offers: Array.from({ length: offers }, (_, index) => newOffer(createdAt, index)),
    timers: [{ name: 'expire', dueAt: biddingEndsAt }],
    nextDueAt: biddingEndsAt,
    events: [],
    seq: 0,
    settledSeq: 0,
    unsettled: 0,
  };
}

const newOffer = (at: Date, index = 0): Offer => {
  return { offerId: newOfferId(), price: 24.5 + ((index * 7) % 5), etaMinutes: 4 + index, driver: newDriver(), at };
};

const trip: [RideStatus, EventName][] = [
  ['bidding', 'offer.received'],
  ['driver_arriving', 'ride.status'],
  ['arrived', 'ride.status'],
  ['in_progress', 'ride.status'],
  ['completed', 'ride.status'],
];

/** A ride whose trip has reached `status`, with all events delivered. */
export function tripRide(key: BenchKey, status: RideStatus, nowMs = Date.now()): Ride {
  const at = new Date(nowMs);
  const offer = newOffer(at);
  const ride: Ride = { ...biddingRide(key, 0, nowMs), offers: [offer], acceptedOfferId: offer.offerId };
  ride.driver = offer.driver;
  ride.agreedPrice = offer.price;
  ride.leg = legBetween(pickup, destination, at, 3_000);
  const steps = trip.slice(0, 1 + trip.findIndex(([step]) => step === status));
  for (const [step, event] of steps) addEvent(ride, step, event, new Date(nowMs + ride.seq));
  for (const sent of ride.events) {
    sent.delivery = { outcome: 'delivered', url: 'https://partner.example/', httpStatus: 200, durationMs: 41, at };
  }
  const settled = { settledSeq: ride.seq, unsettled: 0, rev: ride.seq };
  if (status !== 'completed') return { ...ride, ...settled };
  const { nextDueAt: _, ...ended } = ride;
  return { ...ended, ...settled, timers: [] };
}

/** A ride with one event, which is not delivered yet. */
export function unsettledRide(key: BenchKey, nowMs = Date.now()): Ride {
  const ride = tripRide(key, 'bidding', nowMs);
  ride.events = [];
  ride.seq = 0;
  addEvent(ride, 'driver_arriving', 'ride.status', new Date(nowMs));
  return { ...ride, settledSeq: 0, unsettled: 1, unsettledSince: new Date(nowMs) };
}

/** The number of rides with unsettled events, counted with the sweeper's index. */
export const countUnsettled = (): Promise<number> =>
  storedRides.countDocuments({ unsettled: { $gt: 0 } }, { hint: { unsettledSince: 1, _id: 1 } });

function addEvent(ride: Ride, status: RideStatus, event: EventName, at: Date): void {
  const trackUrl = `https://track.example/${ride.trackToken}`;
  Object.assign(ride, { status, statusAt: at, lastEventAt: at, seq: ride.seq + 1 });
  const identity = { eventId: eventId(ride._id, ride.seq), sequence: ride.seq };
  const body = eventBody({ event, at: at.getTime(), ride, offer: ride.offers[0], trackUrl, ...identity });
  const added: RideEvent = { seq: ride.seq, event, at, body };
  ride.events.push(added);
}

/** Makes `count` rides in batches of 1,000, and says from time to time how many there are. */
export function* ridesInBatches(
  count: number,
  make: (number: number) => Ride,
  say?: (line: string) => void,
): Generator<Ride[]> {
  for (let made = 0; made < count; made += 1_000) {
    if (made % 50_000 === 0)
      say?.(`inserting ${made.toLocaleString('en-US')} of ${count.toLocaleString('en-US')} rides`);
    yield Array.from({ length: Math.min(1_000, count - made) }, (_, index) => make(made + index));
  }
}

/**
 * Inserts rides without waiting for the journal, because these inserts are not measured. The default is the current
 * database.
 */
export async function insertRides(rides: readonly Ride[], database?: string): Promise<void> {
  const db = mongoose.connection.useDb(database ?? mongoose.connection.name);
  const options = { ordered: false, writeConcern: { w: 1, journal: false } } as const;
  for (let start = 0; start < rides.length; start += 1_000) {
    await db.collection<Ride>('rides').insertMany(rides.slice(start, start + 1_000), options);
  }
}
