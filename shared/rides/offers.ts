import type { AutoAccept, Offer, RideState } from './ride-types.ts';

/**
 * The live offers, cheapest first. Offers of the same price are ordered by ETA, then by time (contract, section 4.3).
 */
export function liveOffersCheapestFirst(offers: readonly Offer[]): Offer[] {
  return offers
    .filter((offer) => !offer.withdrawnAt)
    .sort((a, b) => a.price - b.price || a.etaMinutes - b.etaMinutes || a.at.getTime() - b.at.getTime());
}

/**
 * The offers that a partner sees: while the ride is bidding, the live ones; after that, only the accepted one; none if
 * the ride is cancelled.
 */
export function visibleOffers(ride: Pick<RideState, 'status' | 'offers' | 'acceptedOfferId'>): Offer[] {
  if (ride.status === 'cancelled') return [];
  if (ride.status === 'bidding') return liveOffersCheapestFirst(ride.offers);
  return ride.offers.filter((offer) => offer.offerId === ride.acceptedOfferId);
}

type Terms = Pick<Offer, 'price' | 'etaMinutes'>;

/** True if a ride's autoAccept limits allow an offer with these terms. Pure. */
export const isWithinLimits = (
  { maxPrice, maxEtaMinutes = Number.POSITIVE_INFINITY }: AutoAccept,
  offer: Terms,
): boolean => offer.price <= maxPrice && offer.etaMinutes <= maxEtaMinutes;

/**
 * The live offer that auto-accept accepts, ignoring the offers of `exceptDrivers`: the first one within the limits; with
 * `waitSeconds`, the cheapest one, then the one with the shortest ETA. Pure.
 */
export function matchingOffer(
  { autoAccept, offers }: Pick<RideState, 'autoAccept' | 'offers'>,
  exceptDrivers: ReadonlySet<string> = new Set(),
): Offer | undefined {
  if (!autoAccept) return undefined;
  const inOrder = autoAccept.waitSeconds === undefined ? offers : liveOffersCheapestFirst(offers);
  return inOrder.find(
    (offer) => !offer.withdrawnAt && !exceptDrivers.has(offer.driver.driverId) && isWithinLimits(autoAccept, offer),
  );
}
