import { switchSession } from '../../../shared/accounts/session.ts';
import type { Context } from '../../../shared/base/context.ts';
import { type DashboardRoute, signedInRoutes } from '../page-routes.ts';

/** Makes another account of the person the current one of the session. */
export function switchRoutes(service: Context): DashboardRoute[] {
  const { page, action } = signedInRoutes(service);
  return [
    action(
      '/switch',
      async ({ account, form, session }) => {
        const to = account.others.find(({ _id }) => _id === form.text('to'));
        if (to) await switchSession(session, { accountId: to._id, memberId: to.memberId });
        return { redirectTo: '/dashboard' };
      },
      { ofPerson: true },
    ),
    page('/switch', () => ({ redirectTo: '/dashboard' })),
  ];
}
