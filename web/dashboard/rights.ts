import type { Role } from '../../shared/accounts/account.ts';
import { bookers, builders } from '../kit/roles.ts';
import { pages, publicRoutes } from './pages.ts';

/**
 * The table of rights: the roles that may use each route of the dashboard. A route that is not listed is refused. Each
 * page brings its own rows.
 */

/** Needs no session. */
// Stryker disable next-line StringLiteral: any word marks these routes
const anybody = 'anybody';

const rights: Readonly<Record<string, readonly Role[] | typeof anybody>> = {
  ...Object.fromEntries(publicRoutes.map(({ method, path }) => [`${method} ${path}`, anybody])),
  'GET /console/:rideId': builders,
  'GET /console/:rideId/state': builders,
  'GET /console/:rideId/events': builders,
  'POST /console/:rideId/accept': builders,
  'GET /console/:rideId/cancel': builders,
  'POST /console/:rideId/cancel': builders,
  'POST /console/:rideId/steps/:step': builders,

  'GET /rides/:rideId': bookers,
  'GET /rides/:rideId/state': bookers,
  'GET /rides/:rideId/events': bookers,
  'POST /rides/:rideId/accept': bookers,
  'GET /rides/:rideId/cancel': bookers,
  'POST /rides/:rideId/cancel': bookers,
  'POST /rides/:rideId/events/:seq/send-again': builders,
  ...Object.fromEntries(
    pages.flatMap(({ routes }) => routes.map(({ method, path, roles }) => [`${method} ${path}`, roles])),
  ),
};

/** All routes of the table. */
export const routesWithRights = Object.keys(rights);

/** True if a role may use a route. */
export function mayUse(role: Role, route: string): boolean {
  const allowed = Object.hasOwn(rights, route) ? rights[route] : undefined;
  return allowed === anybody || (allowed?.includes(role) ?? false);
}
