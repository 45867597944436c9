import { audit } from '../../../shared/accounts/audit.ts';
import { endAllSessions, endSession } from '../../../shared/accounts/session.ts';
import type { Context } from '../../../shared/context.ts';
import { clientAddress } from '../../http/client-address.ts';
import { sessionCookie } from '../session-cookie.ts';
import { type Answer, type DashboardRoute, type Sending, signedInRoutes } from '../visit.ts';

/** Ends sessions on the server: the cookie alone could be kept. */
export function signOutRoutes(service: Context): DashboardRoute[] {
  const { config } = service;
  const { action } = signedInRoutes(service);
  const cookie = sessionCookie(config);
  async function signOut({ ctx }: Sending): Promise<Answer> {
    await endSession(cookie.read(ctx));
    cookie.clear(ctx);
    return { see: '/dashboard' };
  }

  async function signOutEverywhere({ ctx, account: { _id: accountId } }: Sending): Promise<Answer> {
    await endAllSessions(accountId);
    cookie.clear(ctx);
    const from = clientAddress(ctx, config.trustedProxyHops);
    await audit({ accountId, action: 'signed_out_everywhere', from }, service.now());
    return { see: '/dashboard' };
  }

  return [
    action('/sign-out', signOut, { evenSuspended: true }),
    action('/sign-out-everywhere', signOutEverywhere, { evenSuspended: true }),
  ];
}
