import { auditOf } from '../../../shared/accounts/audit.ts';
import { sessionsOf } from '../../../shared/accounts/session.ts';
import type { Context } from '../../../shared/base/context.ts';
import { keyNames } from '../../../shared/keys/list-keys.ts';
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
      const [sessions, found] = await Promise.all([
        sessionsOf(account._id, mostBrowsers, service.now()),
        auditOf(account._id, entriesAPage + 1, before),
      ]);
      const keyIds = found.flatMap(({ keyId }) => keyId ?? []);
      return accountPage({
        account,
        sessions,
        currentId: session._id,
        entries: found.slice(0, entriesAPage),
        hasMore: found.length > entriesAPage,
        isFirst: before === undefined,
        keyNames: await keyNames(keyIds, { accountId: account._id }),
        now: service.now(),
      });
    }),
  ];
}
