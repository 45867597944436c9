import type { CarType } from '../../shared/car-types.ts';
import type { Config } from '../../shared/config.ts';
import type { FareHint, Quartiles } from '../../shared/fares/fare-hint.ts';
import { eventId } from '../../shared/ids.ts';
import type { Shape } from '../../shared/json-schema.ts';
import type { CreationFields } from '../../shared/rides/create-ride.ts';
import type { FeedPage } from '../../shared/rides/event-feed.ts';
import { partnersOwn, publicOffer, timeOf } from '../../shared/rides/events.ts';
import { visibleOffers } from '../../shared/rides/offers.ts';
import { positionAt } from '../../shared/rides/position.ts';
import type {
  Delivery,
  Driver,
  MovingStatus,
  Offer,
  ReportedPosition,
  Ride,
  RideEvent,
} from '../../shared/rides/ride-types.ts';
import { trackUrl } from '../../shared/rides/track-url.ts';
import type * as answers from './answers.ts';

type Links = Pick<Config, 'trackBaseUrl'>;

const autoAccept = (ride: Pick<Ride, 'autoAccept'>) => (ride.autoAccept ? { autoAccept: ride.autoAccept } : {});
const testMode = (ride: Pick<Ride, 'mode'>) => (ride.mode === 'test' ? { testMode: true as const } : {});

/** The answer to a creation (contract, section 4.1). A replay gets the same answer, so the status is always `bidding`. */
export function presentCreated(links: Links, ride: CreationFields): Shape<typeof answers.rideCreated> {
  return {
    rideId: ride._id,
    status: 'bidding',
    fare: ride.firstFare ?? ride.fare,
    carType: ride.carType,
    distanceKm: ride.distanceKm,
    trackUrl: trackUrl(links.trackBaseUrl, ride),
    ...autoAccept(ride),
    ...partnersOwn(ride),
    ...testMode(ride),
  };
}

const rideFields = {
  keyId: 1,
  mode: 1,
  status: 1,
  fare: 1,
  agreedPrice: 1,
  carType: 1,
  passengerCount: 1,
  distanceKm: 1,
  pickup: 1,
  destination: 1,
  driver: 1,
  trackToken: 1,
  cancelledBy: 1,
  reference: 1,
  metadata: 1,
  autoAccept: 1,
  offersCount: { $size: '$offers' },
} as const;

type RideFields = Pick<Ride, '_id' | Exclude<keyof typeof rideFields, 'offersCount'>> & { offersCount: number };

/** The fields that retrieve reads of a ride, and MongoDB's clock. */
export const shownFields = { ...rideFields, leg: 1, now: '$$NOW' } as const;

export type ShownRide = RideFields & Pick<Ride, 'leg'> & { now: Date; reported?: ReportedPosition };

/** A ride's state (contract, section 4.2). */
export function presentRide(links: Links, ride: ShownRide): Shape<typeof answers.ride> {
  const liveLocation = positionAt(ride, ride.now.getTime());
  return { ...presentFields(links, ride), ...(liveLocation && { liveLocation }) };
}

/** The fields that the list reads of each ride. */
export const listedFields = { ...rideFields, createdAt: 1 } as const;

export type ListedRide = RideFields & Pick<Ride, 'createdAt'>;

/** A page of the list of rides: each without its live location. */
export function presentRides(
  links: Links,
  { rides, hasOlder }: { rides: ListedRide[]; hasOlder: boolean },
): Shape<typeof answers.rideList> {
  return {
    rides: rides.map((ride) => ({ ...presentFields(links, ride), createdAt: ride.createdAt.getTime() })),
    nextCursor: (hasOlder && rides.at(-1)?._id) || null,
  };
}

function presentFields(links: Links, ride: RideFields) {
  return {
    rideId: ride._id,
    status: ride.status,
    fare: ride.fare,
    carType: ride.carType,
    passengerCount: ride.passengerCount,
    distanceKm: ride.distanceKm,
    offersCount: ride.offersCount,
    pickup: ride.pickup,
    destination: ride.destination,
    ...(ride.driver && { driver: presentDriver(ride.driver), agreedPrice: ride.agreedPrice }),
    trackUrl: trackUrl(links.trackBaseUrl, ride),
    ...(ride.cancelledBy && { cancelledBy: ride.cancelledBy }),
    ...autoAccept(ride),
    ...partnersOwn(ride),
    ...testMode(ride),
  };
}

function presentDriver({ name, phone, rating, vehicle, plate }: Driver) {
  return { name, phone, rating, vehicle, plate };
}

export const offerFields = { keyId: 1, status: 1, offers: 1, acceptedOfferId: 1 } as const;

export type RideWithOffers = Pick<Ride, '_id' | keyof typeof offerFields>;

/** A ride's offers, cheapest first (contract, section 4.3). */
export function presentOffers(ride: RideWithOffers): Shape<typeof answers.offerList> {
  return { rideId: ride._id, offers: visibleOffers(ride).map(publicOffer) };
}

/** A page of a key's event feed (contract, section 10.3). */
export function presentFeed({
  events,
  cursor,
  hasMore,
}: FeedPage & { cursor: string | null }): Shape<typeof answers.eventPage> {
  return { events: events.map(({ rideId, event }) => presentEvent(rideId, event)), cursor, hasMore };
}

export function presentRideEvents({
  rideId,
  events,
}: {
  rideId: string;
  events: readonly RideEvent[];
}): Shape<typeof answers.rideEvents> {
  return { rideId, events: events.map((event) => presentEvent(rideId, event)) };
}

/** The body has the order of fields with which it was sent, so its JSON text is the one that was signed. */
function presentEvent(
  rideId: string,
  { seq, event, at, clockAt, body, delivery, by, requestId }: RideEvent,
): Shape<typeof answers.feedEvent> {
  return {
    eventId: eventId(rideId, seq),
    rideId,
    seq,
    event,
    at: timeOf({ at, clockAt }).getTime(),
    body: body ? JSON.parse(body) : null,
    delivery: delivery ? presentDelivery(delivery) : null,
    // A driver's request is none of the partner's.
    ...(requestId !== undefined && (by === 'partner' || by === 'dashboard') && { requestId }),
  };
}

function presentDelivery({ outcome, at, httpStatus, reason, durationMs }: Delivery) {
  return {
    outcome,
    at: at.getTime(),
    durationMs,
    ...(httpStatus !== undefined && { httpStatus }),
    ...(reason !== undefined && { reason }),
  };
}

type Changed = Pick<Ride, '_id' | 'status'>;

/** The answer to an accept (contract, section 4.4). */
export function presentAccepted(ride: Changed): Shape<typeof answers.accepted> {
  // Accepting again succeeds only until the ride has ended.
  return { success: true, rideId: ride._id, status: ride.status as MovingStatus };
}

/** The answer to a cancellation (contract, section 4.5). */
export function presentCancelled(ride: Changed): Shape<typeof answers.cancelled> {
  return { success: true, rideId: ride._id, status: 'cancelled' };
}

/** The answer to a step by hand (contract, section 10.4). */
export function presentStep(ride: Changed): Shape<typeof answers.stepTaken> {
  return { success: true, rideId: ride._id, status: ride.status };
}

/** The answer to an offer by hand: its offer is the ride's last. */
export function presentHandOffer(ride: Pick<Ride, '_id' | 'offers'>): Shape<typeof answers.offeredByHand> {
  const { offerId } = ride.offers.at(-1) as Offer;
  return { success: true, rideId: ride._id, status: 'bidding', offerId };
}

/** The answer to a raise of the fare (contract, section 10.6). */
export function presentFare(ride: Pick<Ride, '_id' | 'fare'>): Shape<typeof answers.fareRaised> {
  return { success: true, rideId: ride._id, status: 'bidding', fare: ride.fare };
}

/** The fare hint (contract, section 10.7). */
export function presentFareHint({
  carType,
  distanceKm,
  hint: { basis, base, perKm },
}: {
  carType: CarType;
  distanceKm: number;
  hint: FareHint;
}): Shape<typeof answers.fareHint> {
  return {
    carType,
    distanceKm,
    basis,
    perKm: perKm && quartiles(perKm, 0, 1),
    fare: perKm && quartiles(perKm, base, distanceKm),
  };
}

/** In cents, and never nothing. */
function quartiles({ lower, median, upper }: Quartiles, base: number, km: number): Quartiles {
  const dollars = (perKm: number) => Math.max(0.01, Math.round((base + perKm * km) * 100) / 100);
  return { lower: dollars(lower), median: dollars(median), upper: dollars(upper) };
}
