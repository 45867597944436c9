import type { Config } from '../../shared/config.ts';
import type { Middleware } from '../types.ts';

/** GET / of the versioned base (contract, section 2.6). */
export function serviceInfo(config: Pick<Config, 'docsUrl'>): Middleware {
  const info = {
    name: 'Ride Partner API',
    version: 'v1',
    docs: config.docsUrl,
    endpoints: [
      'POST /rides',
      'GET /rides/:rideId',
      'GET /rides/:rideId/offers',
      'POST /rides/:rideId/accept',
      'POST /rides/:rideId/cancel',
    ],
  };
  return async (ctx) => {
    ctx.body = info;
  };
}
