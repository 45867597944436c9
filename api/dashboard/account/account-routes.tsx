import { auditOf } from '../../../shared/accounts/audit.ts';
import { sessionsOf } from '../../../shared/accounts/session.ts';
import type { Context } from '../../../shared/context.ts';
import { listKeys } from '../../../shared/keys/manage-keys.ts';
import { type DashboardRoute, signedInRoutes } from '../visit.ts';
import { accountPage, entryAfter } from './account-page.tsx';

const entriesAPage = 50;
const mostBrowsers = 50;

/** The account: its address, its sessions, and what was done in it. */
export function accountRoutes(service: Context): DashboardRoute[] {
  const { page } = signedInRoutes(service);
  return [
    page('/account', async ({ account, session, query }) => {
      const before = entryAfter(query('before'));
      const [sessions, found, keys] = await Promise.all([
        sessionsOf(account._id, mostBrowsers, service.now()),
        auditOf(account._id, entriesAPage + 1, before),
        listKeys({ accountId: account._id }),
      ]);
      return accountPage({
        account,
        sessions,
        currentId: session._id,
        entries: found.slice(0, entriesAPage),
        hasMore: found.length > entriesAPage,
        isFirst: before === undefined,
        keyNames: new Map(keys.map(({ _id, name }) => [_id, name])),
        now: service.now(),
      });
    }),
  ];
}
