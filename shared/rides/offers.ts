import type { AutoAccept, Offer, RideState, Timer } from './ride-types.ts';

/** The live offers, cheapest first; of the same price by ETA, then by time (contract, section 4.3). */
export function liveOffersCheapestFirst(offers: readonly Offer[]): Offer[] {
  return offers
    .filter((offer) => !offer.withdrawnAt)
    .sort((a, b) => a.price - b.price || a.etaMinutes - b.etaMinutes || a.at.getTime() - b.at.getTime());
}

/** The offers that a partner sees: the live ones while bidding, then the accepted one; none once cancelled. */
export function visibleOffers(ride: Pick<RideState, 'status' | 'offers' | 'acceptedOfferId'>): Offer[] {
  if (ride.status === 'cancelled') return [];
  if (ride.status === 'bidding') return liveOffersCheapestFirst(ride.offers);
  return ride.offers.filter((offer) => offer.offerId === ride.acceptedOfferId);
}

/** Once a ride has this many live offers, it is opened to no more drivers. */
const enoughOffers = 5;

/** True if a live ride is opened to more drivers. Pure. */
export const wantsOffers = ({ offers }: { offers: readonly Pick<Offer, 'withdrawnAt'>[] }): boolean =>
  offers.filter(({ withdrawnAt }) => !withdrawnAt).length < enoughOffers;

/**
 * The timer `ask`, due now, if the ride wants more offers again with these offers. The drivers who became available
 * while it had enough offers were passed over. Pure.
 */
export const askTimer = (
  ride: Pick<RideState, 'mode' | 'status' | 'offers'>,
  offers: readonly Offer[],
  now: Date,
): Timer[] =>
  ride.mode === 'live' && ride.status === 'bidding' && !wantsOffers(ride) && wantsOffers({ offers })
    ? [{ name: 'ask', dueAt: now }]
    : [];

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
