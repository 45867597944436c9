import { audit } from '../../../shared/accounts/audit.ts';
import { endAllSessions, endSession } from '../../../shared/accounts/session.ts';
import type { Context } from '../../../shared/context.ts';
import { clientAddress } from '../../http/client-address.ts';
import { sessionCookie } from '../session-cookie.ts';
import { type DashboardRoute, signedInRoutes } from '../visit.ts';

/** Ends sessions on the server: the cookie alone could be kept. */
export function signOutRoutes(service: Context): DashboardRoute[] {
  const { config } = service;
  const { action } = signedInRoutes(service);
  const cookie = sessionCookie(config);
  return [
    action('/sign-out', async ({ ctx }) => {
      await endSession(cookie.read(ctx));
      cookie.clear(ctx);
      return { see: '/dashboard' };
    }),
    action('/sign-out-everywhere', async ({ ctx, account: { _id: accountId } }) => {
      await endAllSessions(accountId);
      cookie.clear(ctx);
      const from = clientAddress(ctx, config.trustedProxyHops);
      await audit({ accountId, action: 'signed_out_everywhere', from }, service.now());
      return { see: '/dashboard' };
    }),
  ];
}
