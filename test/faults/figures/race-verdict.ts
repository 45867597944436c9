import type { Ride, RideStatus } from '../../../shared/rides/ride-types.ts';
import { historyViolations } from '../check/lifecycle.ts';
import { timeOf } from '../check/live-history.ts';

/**
 * One request in a race and its answer. Times are `Date.now()`; MongoDB runs on the same machine and has the same
 * clock.
 */
export interface RaceAnswer {
  asked: 'accept' | 'cancel';
  offerId?: string;
  status: number;
  /** The ride's status in a 200. */
  rideStatus?: string;
  startedAt: number;
  endedAt: number;
}

const order: readonly RideStatus[] = ['driver_arriving', 'arrived', 'in_progress', 'completed'];
/** Tolerated difference between a time read in the database and one read here. */
const clockSlackMs = 5;

/** Violations in a ride after its race: double accepts, answers that contradict the stored ride, illegal steps. */
export function raceViolations(ride: Ride, answers: readonly RaceAnswer[]): string[] {
  const wrong = [...contradictions(ride, answers), ...acceptViolations(ride)].map((what) => `${ride._id}: ${what}`);
  return [...wrong, ...historyViolations(ride)];
}

function contradictions(ride: Ride, answers: readonly RaceAnswer[]): string[] {
  const wrong: string[] = [];
  const accepts = answers.filter(({ asked }) => asked === 'accept');
  const cancels = answers.filter(({ asked }) => asked === 'cancel');
  const won = new Set(accepts.filter(({ status }) => status === 200).map(({ offerId }) => offerId));
  const cancelled = cancels.filter(({ status }) => status === 200);
  const endedAt = hasEnded(ride) ? ride.statusAt.getTime() : Number.POSITIVE_INFINITY;

  for (const { asked, status } of answers) {
    if (status !== 200 && status !== 409) wrong.push(`${asked} was answered ${status}`);
  }
  if (won.size > 1) wrong.push(`double accept: ${won.size} offers were answered 200`);
  for (const offerId of won) {
    if (ride.acceptedOfferId !== offerId) wrong.push(`accept answered 200, but the ride has ${ride.acceptedOfferId}`);
  }
  if (accepts.some(({ status, rideStatus }) => status === 200 && !order.includes(rideStatus as RideStatus))) {
    wrong.push('accept answered 200 with a status that an accepted ride cannot have');
  }
  for (const accept of accepts) {
    if (accept.status === 409 && !mayRefuse(ride, accept)) wrong.push('an accept was refused for no reason');
  }
  if (cancelled.length > 1) wrong.push(`double cancel: ${cancelled.length} were answered 200`);
  if ((cancelled.length === 1) !== (ride.cancelledBy === 'partner')) {
    wrong.push(`${cancelled.length} cancels were answered 200, but the ride was cancelled by ${ride.cancelledBy}`);
  }
  if (cancels.some(({ status, endedAt: at }) => status === 409 && !(endedAt <= at + clockSlackMs))) {
    wrong.push('a cancel was refused, but the ride had not ended');
  }
  const cancelKnownAt = Math.min(...cancelled.map((cancel) => cancel.endedAt));
  if (accepts.some(({ status, startedAt }) => status === 200 && startedAt > cancelKnownAt)) {
    wrong.push('an accept that began after the cancel was answered 200');
  }
  return wrong;
}

/**
 * A repeated accept of the accepted offer is a 200 until the ride ends; accepts of other offers are refused after the
 * accept.
 */
function mayRefuse(ride: Ride, { offerId, endedAt }: RaceAnswer): boolean {
  const withdrawnAt = ride.offers.find((offer) => offer.offerId === offerId)?.withdrawnAt?.getTime();
  const rideEndedAt = hasEnded(ride) ? ride.statusAt.getTime() : Number.POSITIVE_INFINITY;
  const isItself = ride.acceptedOfferId === offerId;
  const reasons = isItself ? [] : [acceptedAt(ride), ride.biddingEndsAt.getTime(), withdrawnAt ?? rideEndedAt];
  return Math.min(rideEndedAt, ...reasons) <= endedAt + clockSlackMs;
}

const hasEnded = ({ status }: Pick<Ride, 'status'>): boolean => status === 'completed' || status === 'cancelled';

const acceptedAt = (ride: Ride): number => timeOf(ride, 'driver_arriving') ?? Number.POSITIVE_INFINITY;

/** Checks that the accepted offer and the driver of a ride belong together, and that every change was counted. */
function acceptViolations(ride: Ride): string[] {
  const wrong: string[] = [];
  const { events, offers } = ride;
  if (events.some(({ body, event }) => JSON.parse(body).event !== event))
    wrong.push('an event has another name than its body');
  const chosen = offers.find(({ offerId }) => offerId === ride.acceptedOfferId);
  if (ride.acceptedOfferId && !chosen) wrong.push('the accepted offer does not exist');
  if (chosen?.withdrawnAt) wrong.push('a withdrawn offer was accepted');
  if (chosen && (chosen.price !== ride.agreedPrice || chosen.driver.driverId !== ride.driver?.driverId)) {
    wrong.push('the ride has the driver or price of another offer');
  }
  if (chosen && acceptedAt(ride) >= ride.biddingEndsAt.getTime()) wrong.push('accepted after the bidding time');
  if ((ride.status === 'cancelled') !== (ride.cancelledBy !== undefined)) wrong.push('cancelledBy is wrong');
  const withdrawn = offers.filter(({ withdrawnAt }) => withdrawnAt).length;
  // Every event and every withdrawal is one change of the ride. Other changes, such as a dropped timer, add to `rev`.
  if (ride.rev < ride.seq + withdrawn) wrong.push(`${ride.rev} changes made ${ride.seq} events`);
  return wrong;
}
