import type { Ride } from '../../shared/rides/ride-types.ts';

/** Two events of a ride in one millisecond are written as two. */
const slackMs = 3;

export interface TimeOnRide {
  since: number;
  until: number;
}

/** From the accept to the end, by the events of the ride; undefined where no driver was chosen. */
export function timeOnRide({ events, status }: Pick<Ride, 'events' | 'status'>): TimeOnRide | undefined {
  const changes = events.filter(({ event }) => event === 'ride.status');
  const accepted = changes.find(({ body }) => JSON.parse(body).status === 'driver_arriving');
  if (!accepted) return undefined;
  const isOver = status === 'cancelled' || status === 'completed';
  const until = isOver ? (changes.at(-1)?.at.getTime() ?? 0) : Number.POSITIVE_INFINITY;
  return { since: accepted.at.getTime(), until };
}

/** Whether one driver was on both rides at a time. */
export const overlap = (a: TimeOnRide | undefined, b: TimeOnRide | undefined): boolean =>
  a !== undefined && b !== undefined && a.until > b.since + slackMs && b.until > a.since + slackMs;
