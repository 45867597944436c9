import { eventId } from '../../../shared/base/ids.ts';
import { timeOf } from '../../../shared/rides/events.ts';
import type { CancelReason, Ride, RideEvent, RideStatus } from '../../../shared/rides/ride-types.ts';

/** A second copy of the contract's table (section 3), because the checker must not trust the table that it checks. */
const next: Record<RideStatus, readonly RideStatus[]> = {
  bidding: ['driver_arriving', 'cancelled'],
  driver_arriving: ['arrived', 'cancelled'],
  arrived: ['in_progress', 'cancelled'],
  in_progress: ['completed', 'cancelled'],
  completed: [],
  cancelled: [],
};

/** Violations of the lifecycle by a ride that must have ended, one line each. */
export function lifecycleViolations(ride: Ride): string[] {
  const violations: string[] = [];
  const say = (what: string) => violations.push(`${ride._id}: ${what}`);
  if (next[ride.status].length > 0) say(`has not ended: ${ride.status}`);
  if (ride.nextDueAt || ride.timers.length > 0) say('has a timer left');
  if (ride.events.length !== ride.seq) say(`${ride.events.length} events, but seq is ${ride.seq}`);
  ride.events.forEach((event, index) => {
    if (event.seq !== index + 1) say(`event ${index + 1} has number ${event.seq}`);
    const before = ride.events[index - 1];
    if (before && event.at <= before.at) say(`event ${event.seq} is not later than the previous one`);
    const { at, eventId: id, sequence } = JSON.parse(event.body);
    if (at !== timeOf(event).getTime()) say(`event ${event.seq} was sent with a different time`);
    if (id !== eventId(ride._id, event.seq) || sequence !== event.seq) say(`event ${event.seq} was sent as ${id}`);
  });
  const end = statusAfter(ride.events, say);
  const reason = ride.status === 'cancelled' ? reasonOf(ride) : undefined;
  if (ride.cancelReason !== reason) say(`was cancelled for ${ride.cancelReason}, instead of ${reason}`);
  if (end !== ride.status) say(`is ${ride.status}, but its events lead to ${end}`);
  const offerEvents = ride.events.filter(({ event }) => event === 'offer.received').length;
  if (offerEvents !== ride.offers.length) say(`${ride.offers.length} offers, but ${offerEvents} offer events`);
  const isAccepted = ride.events.some(({ body }) => JSON.parse(body).status === 'driver_arriving');
  if (isAccepted !== (ride.acceptedOfferId !== undefined)) say('the accepted offer and the events disagree');
  return violations;
}

/** Why the ride was cancelled: the canceller, or a reason that its status before the timeout determines. */
function reasonOf({ cancelledBy, events }: Ride): CancelReason | undefined {
  if (cancelledBy !== 'timeout') return cancelledBy;
  const before = statusAfter(events.slice(0, -1), () => {});
  return before === 'bidding' ? 'no_offers' : before === 'arrived' ? 'no_show' : 'no_progress';
}

/** The status after all events. Reports each event that is not allowed. */
function statusAfter(events: readonly RideEvent[], say: (what: string) => void): RideStatus {
  let status: RideStatus = 'bidding';
  for (const { event, seq, body } of events) {
    if (event === 'offer.received') {
      if (status !== 'bidding') say(`event ${seq} is an offer while ${status}`);
      continue;
    }
    const to: RideStatus = JSON.parse(body).status;
    if (!next[status].includes(to)) say(`event ${seq} goes from ${status} to ${to}`);
    status = to;
  }
  return status;
}
