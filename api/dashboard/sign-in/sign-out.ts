import { audit } from '../../../shared/accounts/audit.ts';
import { endOtherSessions, endSession, endSessionOf, hasSession } from '../../../shared/accounts/session.ts';
import type { Context } from '../../../shared/base/context.ts';
import { derivedAuditId } from '../../../shared/base/ids.ts';
import { clientAddress } from '../../http/forwarded.ts';
import type { RequestContext } from '../../part.ts';
import {
  type Answer,
  type DashboardRoute,
  type FormRequest,
  respond,
  sessionCookie,
  signedInRoutes,
} from '../page-routes.ts';

/**
 * Ends sessions on the server. Deleting the cookie is not enough, because it may have been copied. Each form can be
 * sent again until all its steps are done.
 */
export function signOutRoutes(service: Context): DashboardRoute[] {
  const { config } = service;
  const { page, action } = signedInRoutes(service);
  const cookie = sessionCookie(config);
  const entryOf = ({ account, ctx }: FormRequest) => ({
    accountId: account._id,
    member: account.member.email,
    from: clientAddress(ctx, service),
  });

  async function endOwn(ctx: RequestContext): Promise<Answer> {
    await endSession(cookie.read(ctx));
    cookie.clear(ctx);
    return { redirectTo: '/dashboard' };
  }
  /**
   * Ends the browser's own session. Needs neither a form id nor a session, because sending the form again changes
   * nothing.
   */
  const signOut: DashboardRoute = {
    method: 'POST',
    path: '/sign-out',
    handle: async (ctx) => respond(ctx, await endOwn(ctx)),
  };

  /**
   * Ends all sessions of the person. The session that sent the form ends last, so that the form can be sent again if it
   * was interrupted.
   */
  async function signOutEverywhere(request: FormRequest): Promise<Answer> {
    const { account, ctx, session } = request;
    await endOtherSessions(account, session);
    // Once per session: this session ends here, so it has no second form to record.
    const _id = derivedAuditId('signed_out_everywhere', account._id, session._id);
    await audit({ _id, ...entryOf(request), action: 'signed_out_everywhere' }, service.now());
    return endOwn(ctx);
  }

  /**
   * Ends one session of the person, and records it only if there is one: other ids would fill the audit list. The entry is
   * added first, because a form that is sent again after the end finds no session.
   */
  async function endOne(request: FormRequest): Promise<Answer> {
    const { account, ctx, form, session } = request;
    const sessionId = form.text('session');
    if (sessionId === session._id) return endOwn(ctx);
    if (/^[0-9a-f]{64}$/.test(sessionId) && (await hasSession(account, sessionId))) {
      const _id = derivedAuditId('session_ended', account._id, sessionId);
      await audit({ _id, ...entryOf(request), action: 'session_ended' }, service.now());
      await endSessionOf(account, sessionId);
    }
    return { redirectTo: '/dashboard/account#sessions' };
  }

  const backToAccount = (path: string) => page(path, () => ({ redirectTo: '/dashboard/account' }));
  return [
    signOut,
    action('/sign-out-everywhere', signOutEverywhere, { ofPerson: true }),
    action('/account/end-session', endOne, { ofPerson: true }),
    backToAccount('/account/end-session'),
    backToAccount('/sign-out-everywhere'),
  ];
}
