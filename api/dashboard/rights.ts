import type { Role } from '../../shared/accounts/account.ts';

/**
 * The table of rights: the roles that may use each route of the dashboard. A route that is not listed is refused. Pure.
 */

/** Needs no session: sign-in, and the routes that decide for themselves. */
// Stryker disable next-line StringLiteral: any word marks these routes
const anybody = 'anybody';
const owners = ['owner'] as const;
/** Who builds and watches the integration. */
const builders = ['owner', 'developer'] as const;
/** Who books rides, and sees their passengers. */
const bookers = ['owner', 'developer', 'desk'] as const;
/** Who sees usage and prices. */
const accountants = ['owner', 'developer', 'finance'] as const;
const everyone = ['owner', 'developer', 'desk', 'finance'] as const;

const rights = {
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

  'GET /account': everyone,
  'GET /account/end-session': everyone,
  'POST /account/end-session': everyone,
  'GET /sign-out-everywhere': everyone,
  'POST /sign-out-everywhere': everyone,
  'GET /switch': everyone,
  'POST /switch': everyone,

  'GET /team': everyone,
  'GET /team/leave': everyone,
  'POST /team/leave': everyone,
  'GET /team/name': owners,
  'POST /team/name': owners,
  'GET /team/invitations': owners,
  'POST /team/invitations': owners,
  'POST /team/invitations/:invitationId/send-again': owners,
  'POST /team/invitations/:invitationId/withdraw': owners,
  'POST /team/members/:memberId/role': owners,
  'GET /team/members/:memberId/remove': owners,
  'POST /team/members/:memberId/remove': owners,
  'GET /team/hand-over': owners,
  'POST /team/hand-over': owners,

  'GET /confirm': builders,
  'POST /confirm': builders,
  'GET /confirm/code': builders,
  'POST /confirm/code': builders,
  'GET /keys': builders,
  'POST /keys': builders,
  'GET /keys/new': builders,
  'GET /keys/:keyId': builders,
  'GET /keys/:keyId/name': builders,
  'POST /keys/:keyId/name': builders,
  'GET /keys/:keyId/webhook-url': builders,
  'POST /keys/:keyId/webhook-url': builders,
  'GET /keys/:keyId/test-event': builders,
  'POST /keys/:keyId/test-event': builders,
  'GET /keys/:keyId/signing-secret': builders,
  'POST /keys/:keyId/signing-secret': builders,
  'GET /keys/:keyId/roll-secret': builders,
  'POST /keys/:keyId/roll-secret': builders,
  'GET /keys/:keyId/rotate': builders,
  'POST /keys/:keyId/rotate': builders,
  'GET /keys/:keyId/revoke': builders,
  'POST /keys/:keyId/revoke': builders,
  'GET /deliveries': builders,
  'POST /deliveries/send-again': builders,
  'GET /deliveries/:attemptId': builders,
  'GET /console': builders,
  'POST /console': builders,
  'GET /console/:rideId': builders,
  'GET /console/:rideId/state': builders,
  'GET /console/:rideId/events': builders,
  'POST /console/:rideId/accept': builders,
  'POST /console/:rideId/cancel': builders,
  'POST /console/:rideId/steps/:step': builders,
  'GET /signature': builders,

  'GET /desk': bookers,
  'POST /desk': bookers,
  'POST /desk/hint': bookers,
  'POST /desk/search': bookers,
  'GET /desk/state': bookers,
  'GET /desk/events': bookers,
  'POST /desk/rides/:rideId/accept': bookers,
  'GET /desk/rides/:rideId/cancel': bookers,
  'POST /desk/rides/:rideId/cancel': bookers,
  'GET /desk/places': bookers,
  'POST /desk/places': bookers,
  'POST /desk/places/remove': bookers,
  'POST /desk/places/default': bookers,
  'GET /desk/settings': builders,
  'POST /desk/settings': builders,

  'GET /rides': bookers,
  'GET /rides/:rideId': bookers,
  'GET /rides/:rideId/receipt': bookers,
  'GET /rides/:rideId/state': bookers,
  'GET /rides/:rideId/events': bookers,
  'POST /rides/:rideId/accept': bookers,
  'GET /rides/:rideId/cancel': bookers,
  'POST /rides/:rideId/cancel': bookers,
  'POST /rides/:rideId/events/:seq/send-again': builders,

  'GET /usage': accountants,
  'GET /usage/:month': accountants,
  'GET /usage/:month/statement.csv': accountants,
} as const satisfies Record<string, readonly Role[] | typeof anybody>;

/** A route that the table lists, for example `GET /rides/:rideId`. */
export type RightsRoute = keyof typeof rights;

/** All routes of the table. */
export const routesWithRights = Object.keys(rights) as RightsRoute[];

/** True if a role may use a route. */
export function mayUse(role: Role, route: string): boolean {
  if (!Object.hasOwn(rights, route)) return false;
  const allowed: readonly Role[] | typeof anybody = rights[route as RightsRoute];
  return allowed === anybody || allowed.includes(role);
}

/** The first page that a role sees after it has signed in. */
export const firstPages: Readonly<Record<Role, string>> = {
  owner: '/dashboard',
  developer: '/dashboard',
  desk: '/dashboard/desk',
  finance: '/dashboard/usage',
};

/** What each role is for. */
export const roleTexts: Readonly<Record<Role, { name: string; text: string }>> = {
  owner: { name: 'Owner', text: 'everything, including the team' },
  developer: { name: 'Developer', text: 'keys, webhooks, secrets, console, rides and usage' },
  desk: { name: 'Desk', text: 'books, follows, accepts and cancels rides' },
  finance: { name: 'Finance', text: 'usage and statements, without passengers' },
};
