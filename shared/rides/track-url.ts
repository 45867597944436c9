import type { Ride } from './ride-types.ts';

/** The address of the ride's public live map, which needs no key (contract, section 2.1). Pure. */
export const trackUrl = (trackBaseUrl: string, ride: Pick<Ride, 'trackToken'>): string =>
  `${trackBaseUrl}/${ride.trackToken}`;
