import type { Context } from '../../shared/base/context.ts';
import { accountRoutes } from './account/account-routes.tsx';
import { type ConsoleParts, consoleRoutes } from './console/console-routes.tsx';
import { deliveriesRoutes } from './deliveries/deliveries-routes.tsx';
import { keysRoutes } from './keys/keys-routes.tsx';
import { overviewRoutes } from './overview/overview-routes.tsx';
import { ridesRoutes } from './rides/rides-routes.tsx';
import { confirmRoutes } from './sign-in/confirm-routes.tsx';
import { linkRoutes } from './sign-in/link-routes.tsx';
import { signInRoutes } from './sign-in/sign-in-routes.tsx';
import { signOutRoutes } from './sign-in/sign-out-routes.ts';
import { signatureRoutes } from './signature/signature-routes.tsx';
import { usageRoutes } from './usage/usage-routes.tsx';
import type { DashboardRoute } from './visit.ts';

/** Every route of the dashboard, room by room. Signing in comes first: it has the first page while nobody is signed in. */
export function dashboardRoutes(service: Context, forConsole: ConsoleParts): DashboardRoute[] {
  return [
    ...signInRoutes(service),
    ...linkRoutes(service),
    ...confirmRoutes(service),
    ...signOutRoutes(service),
    ...overviewRoutes(service),
    ...keysRoutes(service),
    ...ridesRoutes(service),
    ...deliveriesRoutes(service),
    ...usageRoutes(service),
    ...consoleRoutes(service, forConsole),
    ...signatureRoutes(service),
    ...accountRoutes(service),
  ];
}
