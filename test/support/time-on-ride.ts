import type { Ride } from '../../shared/rides/ride-types.ts';

/** An event's time is the time of the decision. On a busy machine, the event is written up to this much later. */
const slackMs = 250;

export interface TimeOnRide {
  since: number;
  until: number;
}

/** The time from accept to end, from the ride's events. Undefined if no driver was assigned. */
export function timeOnRide({ events, status }: Pick<Ride, 'events' | 'status'>): TimeOnRide | undefined {
  const changes = events.filter(({ event }) => event === 'ride.status');
  const accepted = changes.find(({ body }) => JSON.parse(body).status === 'driver_arriving');
  if (!accepted) return undefined;
  const isOver = status === 'cancelled' || status === 'completed';
  const until = isOver ? (changes.at(-1)?.at.getTime() ?? 0) : Number.POSITIVE_INFINITY;
  return { since: accepted.at.getTime(), until };
}

/** True if the times on two rides overlap. */
export const overlap = (a: TimeOnRide | undefined, b: TimeOnRide | undefined): boolean =>
  a !== undefined && b !== undefined && a.until > b.since + slackMs && b.until > a.since + slackMs;
