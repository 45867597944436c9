import type { Point } from '../../shared/base/great-circle.ts';
import { biddingSince, waitsToOpen } from '../../shared/rides/opening.ts';
import type { Ride, TestScenario } from '../../shared/rides/ride-types.ts';

/** Words about rides. Pure: browsers use this file too. */

/** The point as a text that people can paste into map apps: `40.758, -73.9855`, to about a metre. */
export const coordinatesAsText = ({ lat, lng }: Point): string =>
  [lat, lng].map((degrees) => String(Number(degrees.toFixed(5)))).join(', ');

export const ratingText = (rating: number): string => `★ ${rating.toFixed(1)}`;

/** What people call a ride: its passenger, or else its reference. */
export const nameOf = ({ passenger, reference, erasedAt }: Pick<Ride, 'passenger' | 'reference' | 'erasedAt'>) =>
  passenger?.name || reference || (erasedAt ? 'Erased' : 'No name');

/** The reason why the trip of a ride needs a person now. */
export interface TripConcern {
  text: string;
  /** The end of the time in which something can be done. */
  until?: Date;
}

/** A passenger who has not come out after this time should be called. */
const longWaitMs = 5 * 60_000;

type Trip = Pick<
  Ride,
  | 'status'
  | 'statusAt'
  | 'createdAt'
  | 'biddingOpensAt'
  | 'openedAt'
  | 'biddingEndsAt'
  | 'autoAccept'
  | 'cancelledBy'
  | 'agreedPrice'
  | 'replacedBy'
  | 'pickupAt'
> & { liveOffers: number };

/** The reason why the trip itself needs a person at a time (Unix ms); null if it needs nobody. Pure. */
export function concernOfTrip(trip: Trip, now: number): TripConcern | null {
  const { status, statusAt, pickupAt = statusAt } = trip;
  if (status === 'bidding') return biddingConcern(trip, now);
  // The passenger of a ride for later is not expected before its time.
  const waitedMs = now - Math.max(statusAt.getTime(), pickupAt.getTime());
  if (status === 'arrived' && waitedMs > longWaitMs) {
    return { text: `The driver has been waiting for ${durationText(waitedMs)}` };
  }
  const text = status === 'cancelled' && cancelText(trip);
  return text ? { text } : null;
}

/** `81 min`, `10 h` */
export function durationText(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
}

function biddingConcern(ride: Trip, now: number): TripConcern | null {
  if (waitsToOpen(ride)) return null;
  const { liveOffers, autoAccept, biddingEndsAt: until } = ride;
  const leftMs = until.getTime() - now;
  if (leftMs <= 0) return null;
  if (liveOffers > 0) {
    return { text: `${liveOffers} offer${liveOffers === 1 ? '' : 's'}${choiceText(autoAccept)}`, until };
  }
  return leftMs < (until.getTime() - biddingSince(ride).getTime()) / 2 ? { text: 'No offer yet', until } : null;
}

function choiceText(autoAccept: Ride['autoAccept']): string {
  if (!autoAccept) return ' to choose from';
  return autoAccept.waitSeconds ? ', none accepted automatically yet' : ', none within the limits of auto-accept';
}

/** Null if nobody needs to act: the partner cancelled, or another ride replaces this one. */
function cancelText({ cancelledBy, agreedPrice, replacedBy }: Trip): string | null {
  if (cancelledBy === 'driver') return replacedBy ? null : 'The driver cancelled';
  if (cancelledBy !== 'timeout') return null;
  return agreedPrice === undefined
    ? 'Cancelled: no offer was accepted in time'
    : 'Cancelled: the trip made no progress';
}

/** The scenarios of the simulated driver in words (contract, section 3). */
export const scenarioWords: Record<TestScenario, string> = {
  default: 'One offer at the fare, accepted and driven to the end in about 15 s.',
  no_auto_accept: 'One offer, which waits until you accept it.',
  three_offers: 'Three offers with different prices and ETAs; the cheapest is accepted.',
  three_offers_no_accept: 'The same three offers, which wait until you accept one.',
  counter_offer: 'One offer above the fare.',
  offer_withdrawn: 'The offer is withdrawn after 2 s; bidding continues.',
  driver_cancels: 'The driver cancels at the pickup.',
  stalls: 'The ride stays in driver_arriving until you make a manual step.',
  no_offers: 'No driver makes an offer before the bidding time ends.',
  slow: 'The default course in almost 7 minutes, so that you can watch the live map.',
  rate_limited: 'The first request is refused with a 429; then as default.',
  unavailable: 'The first request is refused with a 503; then as default.',
  duplicate_event: 'The second event is sent twice; otherwise as default.',
};
