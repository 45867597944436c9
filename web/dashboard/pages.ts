import type { Role } from '../../shared/accounts/account.ts';
import { desk } from '../desk/desk-page.tsx';
import { deskRide } from '../desk/desk-ride.tsx';
import { deskSettings } from '../desk/desk-settings.tsx';
import { receipt } from '../desk/receipt.tsx';
import { rideChanges } from '../desk/ride-changes.tsx';
import { savedPlaces } from '../desk/saved-places.tsx';
import type { OfDashboard } from '../kit/answer.ts';
import type { Page } from '../kit/page.tsx';
import type { PublicRoute } from '../kit/public-pages.ts';
import { everyone } from '../kit/roles.ts';
import { account } from './account-page.tsx';
import { confirm } from './confirm.tsx';
import { testConsole } from './console.tsx';
import { deliveries } from './deliveries.tsx';
import { delivery } from './delivery.tsx';
import { endpoint } from './endpoint.tsx';
import { invitationRoutes } from './invitation.tsx';
import { key } from './key.tsx';
import { keys } from './keys-page.tsx';
import { linkRoutes } from './mail-link.tsx';
import { newKey } from './new-key.tsx';
import { overview } from './overview.tsx';
import { ridePageRoutes } from './ride-page.tsx';
import { rides } from './rides.tsx';
import { signInRoutes } from './sign-in.tsx';
import { signature } from './signature.tsx';
import { statement } from './statement.tsx';
import { team } from './team.tsx';
import { usage } from './usage.tsx';

/** The declared pages of the dashboard. A fixed path comes before a parameter in its place. */
export const pages: readonly Page[] = [
  ...[
    overview,
    confirm,
    desk,
    deskRide,
    rideChanges,
    savedPlaces,
    deskSettings,
    receipt,
    rides,
    testConsole,
    ...ridePageRoutes,
  ],
  ...[keys, newKey, key, endpoint, deliveries, delivery, usage, statement, signature, account, team],
];

/** The pages that need no session. They come before the declared pages. */
export const publicRoutes: readonly PublicRoute<OfDashboard>[] = [...signInRoutes, ...linkRoutes, ...invitationRoutes];

const rights: ReadonlyMap<string, readonly Role[]> = new Map([
  ...publicRoutes.map(({ method, path }) => [`${method} ${path}`, everyone] as const),
  ...pages.flatMap(({ routes }) => routes.map(({ method, path, roles }) => [`${method} ${path}`, roles] as const)),
]);

/** All routes of the dashboard, such as `GET /keys`. */
export const routesWithRights = [...rights.keys()];

/** True if a role may use a route. A route that no page declares is refused. */
export const mayUse = (role: Role, route: string): boolean => rights.get(route)?.includes(role) ?? false;
