import type { Role } from '../../shared/accounts/account.ts';
import { pages } from '../../web/dashboard/pages.ts';
import { bookers, builders, everyone } from '../../web/kit/roles.ts';

/**
 * The table of rights: the roles that may use each route of the dashboard. A route that is not listed is refused. The
 * declared pages (web/dashboard/) bring their own rows.
 */

/** Needs no session: sign-in, and the routes that decide for themselves. */
// Stryker disable next-line StringLiteral: any word marks these routes
const anybody = 'anybody';

const rights: Readonly<Record<string, readonly Role[] | typeof anybody>> = {
  // The sign-in page, the overview, or the first page of a role that has no overview.
  'GET /': anybody,
  'GET /sign-in': anybody,
  'POST /sign-in': anybody,
  'GET /sign-in/code': anybody,
  'POST /sign-in/code': anybody,
  'GET /sign-in/link/:link': anybody,
  'POST /sign-in/link/:link': anybody,
  'GET /sign-in/invitation/:invitation': anybody,
  'POST /sign-in/invitation/:invitation': anybody,
  'POST /sign-out': anybody,

  'GET /switch': everyone,
  'POST /switch': everyone,

  'GET /confirm': builders,
  'POST /confirm': builders,
  'GET /confirm/code': builders,
  'POST /confirm/code': builders,
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

/** The first page that a role sees after it has signed in. */
export const firstPages: Readonly<Record<Role, string>> = {
  owner: '/dashboard',
  developer: '/dashboard',
  desk: '/dashboard/desk',
  finance: '/dashboard/usage',
};
