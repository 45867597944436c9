import { endSession } from '../../../shared/accounts/session.ts';
import type { Context } from '../../../shared/base/context.ts';
import { type DashboardRoute, respond, sessionCookie } from '../page-routes.ts';

/**
 * Ends the browser's own session on the server. Deleting the cookie is not enough, because it may have been copied.
 * Needs neither a form id nor a session, because sending the form again changes nothing.
 */
export function signOutRoutes({ config }: Context): DashboardRoute[] {
  const cookie = sessionCookie(config);
  return [
    {
      method: 'POST',
      path: '/sign-out',
      async handle(ctx) {
        await endSession(cookie.read(ctx));
        cookie.clear(ctx);
        respond(ctx, { redirectTo: '/dashboard' });
      },
    },
  ];
}
