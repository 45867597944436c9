import type { Offer, Ride } from './ride-types.ts';

/** When cars arrive. Pure: browsers use this file too. */

/** The average speed of a car in a town, with stops. */
export const assumedKmPerHour = 30;
/** The way through the streets is longer than the great circle by about this factor. */
const detour = 1.3;
export const hourMs = 3_600_000;

/** The estimated duration (ms) of a drive between two places that are `km` apart. Pure. */
export const driveMs = (km: number, kmPerHour = assumedKmPerHour): number => ((km * detour) / kmPerHour) * hourMs;

/** A driver is late if the arrival was expected at least this long ago. */
export const lateMs = 60_000;

/**
 * When a car that is on its way is expected at the pickup or the destination (Unix ms); undefined if nothing is known.
 * Pure.
 */
export function promisedArrival(
  ride: Pick<Ride, 'status' | 'statusAt' | 'leg' | 'acceptedOfferId' | 'distanceKm' | 'pickupAt'> & {
    offers: readonly Pick<Offer, 'offerId' | 'etaMinutes'>[];
  },
): number | undefined {
  const { status, statusAt, leg, offers, acceptedOfferId, distanceKm, pickupAt } = ride;
  if (leg) return leg.endAt.getTime();
  const since = statusAt.getTime();
  if (status === 'in_progress') return since + driveMs(distanceKm);
  const offer = offers.find(({ offerId }) => offerId === acceptedOfferId);
  // The driver of a ride for later need not be there before its time.
  return offer && Math.max(since + offer.etaMinutes * 60_000, pickupAt?.getTime() ?? 0);
}
