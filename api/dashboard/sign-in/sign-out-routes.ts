import { audit } from '../../../shared/accounts/audit.ts';
import { endOtherSessions, endSession, endSessionOf } from '../../../shared/accounts/session.ts';
import type { Context } from '../../../shared/base/context.ts';
import { derivedAuditId } from '../../../shared/base/ids.ts';
import { clientAddress } from '../../http/forwarded.ts';
import type { RequestContext } from '../../part.ts';
import { sessionCookie } from '../session-cookie.ts';
import { type Answer, type DashboardRoute, formIdOf, respond, type Sending, signedInRoutes } from '../visit.ts';

/** Ends sessions on the server: the cookie could be kept. Each form can be sent again until all of it is done. */
export function signOutRoutes(service: Context): DashboardRoute[] {
  const { config } = service;
  const { page, action } = signedInRoutes(service);
  const cookie = sessionCookie(config);
  const fromOf = ({ ctx }: Sending) => clientAddress(ctx, config.trustedProxyHops);

  async function endOwn(ctx: RequestContext): Promise<Answer> {
    await endSession(cookie.read(ctx));
    cookie.clear(ctx);
    return { see: '/dashboard' };
  }
  /** Needs neither a form's id nor a session: it changes nothing the second time. */
  const signOut: DashboardRoute = {
    method: 'POST',
    path: '/sign-out',
    handle: async (ctx) => respond(ctx, await endOwn(ctx)),
  };

  /** The form's own session ends last: until then the form can be sent again. */
  async function signOutEverywhere(sending: Sending): Promise<Answer> {
    const { ctx, form, session } = sending;
    const accountId = sending.account._id;
    await endOtherSessions(accountId, session);
    const _id = derivedAuditId('signed_out_everywhere', accountId, formIdOf(form));
    await audit({ _id, accountId, action: 'signed_out_everywhere', from: fromOf(sending) }, service.now());
    return endOwn(ctx);
  }

  /** Ends one session, which is noted once however often the form is sent. */
  async function endOne(sending: Sending): Promise<Answer> {
    const { ctx, form, session } = sending;
    const accountId = sending.account._id;
    const sessionId = form.text('session');
    if (sessionId === session._id) return endOwn(ctx);
    if (/^[0-9a-f]{64}$/.test(sessionId)) {
      await endSessionOf(accountId, sessionId);
      const _id = derivedAuditId('session_ended', accountId, sessionId);
      await audit({ _id, accountId, action: 'session_ended', from: fromOf(sending) }, service.now());
    }
    return { see: '/dashboard/account#sessions' };
  }

  const backToAccount = (path: string) => page(path, () => ({ see: '/dashboard/account' }));
  return [
    signOut,
    action('/sign-out-everywhere', signOutEverywhere, { evenSuspended: true }),
    action('/account/end-session', endOne, { evenSuspended: true }),
    backToAccount('/account/end-session'),
    backToAccount('/sign-out-everywhere'),
  ];
}
