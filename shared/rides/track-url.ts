import type { Ride } from './ride-types.ts';

/**
 * The address of the ride's public live map, which needs no key (contract, section 2.1). That of an erased ride, which has no
 * token, leads to the page of links that have run out. Pure.
 */
export const trackUrl = (trackBaseUrl: string, { trackToken = 'erased' }: Pick<Ride, 'trackToken'>): string =>
  `${trackBaseUrl}/${trackToken}`;
