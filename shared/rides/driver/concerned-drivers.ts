import type { Offer, RideState } from '../ride-types.ts';

/** The drivers whose requests or ride look different after a change of a live ride. Pure. */
export function concernedDrivers(before: RideState, after: RideState): string[] {
  if (after.mode !== 'live') return [];
  const asked = (after.asked ?? []).map(({ driverId }) => driverId);
  if (after.status !== before.status) {
    const own = after.driver ? [after.driver.driverId] : [];
    // Once the bidding is over, the ride is in nobody's list of requests.
    return before.status === 'bidding' ? [...new Set([...own, ...asked])] : own;
  }
  if (after.fare !== before.fare) return asked;
  // Both lists only grow at their ends.
  const newlyAsked = asked.slice(before.asked?.length ?? 0);
  const bidders = after.offers.filter((offer, index) => isNews(offer, before.offers[index]));
  return [...new Set([...newlyAsked, ...bidders.map(({ driver }) => driver.driverId)])];
}

const isNews = (offer: Offer, before: Offer | undefined): boolean =>
  !before || (offer.withdrawnAt !== undefined && before.withdrawnAt === undefined);

/** All drivers who may see a live ride: those it was opened to, and its own. Pure. */
export const driversOf = ({ mode, asked = [], driver }: RideState): string[] =>
  mode === 'live' ? [...new Set([...asked, ...(driver ? [driver] : [])].map(({ driverId }) => driverId))] : [];
