import type { Ride } from '../../shared/rides/ride-types.ts';

/** An event bears the time at which its change was decided on: on a busy machine it is written that much later. */
const slackMs = 250;

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
