import type { Offer, RideState } from './ride-types.ts';

/** The live ones, cheapest first; ties by ETA, then by arrival (contract, section 4.3). */
export function presentedOrder(offers: readonly Offer[]): Offer[] {
  return offers
    .filter((offer) => !offer.withdrawnAt)
    .sort((a, b) => a.price - b.price || a.etaMinutes - b.etaMinutes || a.at.getTime() - b.at.getTime());
}

/** The offers a partner sees: while bidding the live ones, then the accepted one alone, none once cancelled. */
export function visibleOffers(ride: Pick<RideState, 'status' | 'offers' | 'acceptedOfferId'>): Offer[] {
  if (ride.status === 'cancelled') return [];
  if (ride.status === 'bidding') return presentedOrder(ride.offers);
  return ride.offers.filter((offer) => offer.offerId === ride.acceptedOfferId);
}
