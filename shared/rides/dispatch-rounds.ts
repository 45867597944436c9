import type { Config } from '../base/config.ts';
import type { RideState, Timer } from './ride-types.ts';

type Rounds = Config['dispatch'];

/** A ride with so many live offers is not opened to more drivers. */
export const enoughOffers = 5;

/** How far from the pickup drivers are asked in a round, counted from 0. A ride between cities starts with the last radius. */
export function radiusKmOf({ rounds }: Rounds, { rideType }: Pick<RideState, 'rideType'>, round: number): number {
  const last = rounds[rounds.length - 1]?.radiusKm ?? 0;
  return rideType === 'intercity' ? last : (rounds[round]?.radiusKm ?? last);
}

/** The timer of the round with this number, or none when the bidding is over by then. Pure. */
export function roundTimer(
  { rounds, repeatMs }: Rounds,
  { createdAt, biddingEndsAt }: Pick<RideState, 'createdAt' | 'biddingEndsAt'>,
  round: number,
  now: Date,
): Timer[] {
  const planned = rounds[round];
  const dueAt = new Date(planned ? createdAt.getTime() + planned.afterMs : now.getTime() + repeatMs);
  return dueAt < biddingEndsAt ? [{ name: 'dispatch', dueAt }] : [];
}
