import type { AutoAccept, Offer, RideState } from './ride-types.ts';

type Terms = Pick<Offer, 'price' | 'etaMinutes'>;

/** Whether a partner takes an offer of these terms without looking at it. Pure. */
export const fits = ({ maxPrice, maxEtaMinutes = Number.POSITIVE_INFINITY }: AutoAccept, offer: Terms): boolean =>
  offer.price <= maxPrice && offer.etaMinutes <= maxEtaMinutes;

/** The live offer that came first of those that the partner takes without looking at them. Pure. */
export function firstFitting(
  { autoAccept, offers }: Pick<RideState, 'autoAccept' | 'offers'>,
  except: ReadonlySet<string>,
): Offer | undefined {
  if (!autoAccept) return undefined;
  return offers.find((offer) => !offer.withdrawnAt && !except.has(offer.offerId) && fits(autoAccept, offer));
}
