import { audit } from '../../../shared/accounts/audit.ts';
import { type MemberRef, switchSession } from '../../../shared/accounts/session.ts';
import type { Context } from '../../../shared/base/context.ts';
import { derivedAuditId } from '../../../shared/base/ids.ts';
import { clientAddress } from '../../http/forwarded.ts';
import { type DashboardRoute, type FormRequest, formIdOf, signedInRoutes } from '../page-routes.ts';

/** Makes another account of the person the current one of the session. */
export function switchRoutes(service: Context): DashboardRoute[] {
  const { page, action } = signedInRoutes(service);
  return [
    action(
      '/switch',
      async (request) => {
        const { account, form } = request;
        const to = account.others.find(({ _id }) => _id === form.text('to'));
        if (to) await enterAccount(service, request, { accountId: to._id, memberId: to.memberId });
        return { redirectTo: '/dashboard' };
      },
      { ofPerson: true },
    ),
    page('/switch', () => ({ redirectTo: '/dashboard' })),
  ];
}

type Entering = Pick<FormRequest, 'ctx' | 'account' | 'session' | 'form'>;

/**
 * Makes an account of the person the current one of the session. First adds an entry to the account's audit list, once
 * per form and session, as signing in does.
 */
export async function enterAccount(
  service: Context,
  { ctx, account, session, form }: Entering,
  to: MemberRef,
): Promise<void> {
  const _id = derivedAuditId('switched_in', session._id, to.accountId, formIdOf(form));
  const from = clientAddress(ctx, service);
  const entry = { accountId: to.accountId, member: account.member.email, from };
  await audit({ _id, ...entry, action: 'switched_in' }, service.now());
  await switchSession(session, to);
}
