import type { RideState } from './ride-types.ts';

/** The pickup of a ride for later is at least this far ahead. */
export const earliestMs = 15 * 60_000;

/** True until the bidding of a ride for later has opened. Pure. */
export const waitsToOpen = ({ biddingOpensAt, openedAt }: Pick<RideState, 'biddingOpensAt' | 'openedAt'>): boolean =>
  biddingOpensAt !== undefined && openedAt === undefined;

/** From when the bidding time and the dispatch rounds of a ride count. Pure. */
export const biddingSince = ({ createdAt, openedAt }: Pick<RideState, 'createdAt' | 'openedAt'>): Date =>
  openedAt ?? createdAt;

/** The opening of a ride for partners: the actual time once it has opened, before that the plan. Pure. */
export const shownOpening = ({ biddingOpensAt, openedAt }: Pick<RideState, 'biddingOpensAt' | 'openedAt'>) =>
  biddingOpensAt && (openedAt ?? biddingOpensAt);
