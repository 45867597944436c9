import { enterAccount } from '../../shared/accounts/session.ts';
import type { Context } from '../../shared/base/context.ts';
import { clientAddress } from '../http/forwarded.ts';
import { type DashboardRoute, formIdOf, signedInRoutes } from './page-routes.ts';

/** Makes another account of the person the current one of the session. */
export function switchRoutes(service: Context): DashboardRoute[] {
  const { page, action } = signedInRoutes(service);
  return [
    action(
      '/switch',
      async ({ ctx, account, session, form }) => {
        const to = account.others.find(({ _id }) => _id === form.text('to'));
        const entering = { account, session, formId: formIdOf(form), from: clientAddress(ctx, service) };
        if (to) await enterAccount(entering, { accountId: to._id, memberId: to.memberId }, service.now());
        return { redirectTo: '/dashboard' };
      },
      { ofPerson: true },
    ),
    page('/switch', () => ({ redirectTo: '/dashboard' })),
  ];
}
