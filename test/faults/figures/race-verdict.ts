import type { Ride, RideStatus } from '../../../shared/rides/ride-types.ts';

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
  return [...contradictions(ride, answers), ...pathViolations(ride)].map((what) => `${ride._id}: ${what}`);
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

const statusOf = (event: Ride['events'][number]): RideStatus | undefined =>
  event.event === 'ride.status' ? JSON.parse(event.body).status : undefined;

function acceptedAt(ride: Ride): number {
  const event = ride.events.find((candidate) => statusOf(candidate) === 'driver_arriving');
  return event ? event.at.getTime() : Number.POSITIVE_INFINITY;
}

/** Checks the ride's own events: legal steps, one event for each transition, `seq` without gaps, and `at` rising. */
function pathViolations(ride: Ride): string[] {
  const wrong: string[] = [];
  const { events, offers } = ride;
  if (events.some(({ seq }, index) => seq !== index + 1) || ride.seq !== events.length) wrong.push('seq has a gap');
  if (events.some(({ at }, index) => index > 0 && at <= (events[index - 1]?.at ?? 0))) wrong.push('at does not rise');
  if (events.some(({ at, body, event }) => JSON.parse(body).at !== at.getTime() || JSON.parse(body).event !== event)) {
    wrong.push('an event has a different time or name than its body');
  }
  let status: RideStatus = 'bidding';
  let offered = 0;
  for (const event of events) {
    const to = statusOf(event);
    if (to === undefined) {
      if (status !== 'bidding') wrong.push(`illegal step: an offer while ${status}`);
      offered += 1;
      continue;
    }
    const isNext = order.indexOf(to) === order.indexOf(status) + 1;
    const isCancel = to === 'cancelled' && !hasEnded({ status });
    if (!isCancel && !(isNext && !hasEnded({ status }))) wrong.push(`illegal step: ${status} -> ${to}`);
    status = to;
  }
  if (status !== ride.status) wrong.push(`the events end in ${status}, but the ride is ${ride.status}`);
  if (offered !== offers.length) wrong.push(`${offered} events for ${offers.length} offers`);

  const isAccepted = Number.isFinite(acceptedAt(ride));
  const chosen = offers.find(({ offerId }) => offerId === ride.acceptedOfferId);
  if (isAccepted !== (chosen !== undefined)) wrong.push('the accepted offer and the events disagree');
  if (chosen?.withdrawnAt) wrong.push('a withdrawn offer was accepted');
  if (chosen && (chosen.price !== ride.agreedPrice || chosen.driver.driverId !== ride.driver?.driverId)) {
    wrong.push('the ride has the driver or price of another offer');
  }
  if (isAccepted && acceptedAt(ride) >= ride.biddingEndsAt.getTime()) wrong.push('accepted after the bidding time');
  if ((ride.status === 'cancelled') !== (ride.cancelledBy !== undefined)) wrong.push('cancelledBy is wrong');
  const withdrawn = offers.filter(({ withdrawnAt }) => withdrawnAt).length;
  // Every event and every withdrawal is one change of the ride. Other changes, such as a dropped timer, add to `rev`.
  if (ride.rev < ride.seq + withdrawn) wrong.push(`${ride.rev} changes made ${ride.seq} events`);
  return wrong;
}
