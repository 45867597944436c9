import type { Context } from '../../../shared/base/context.ts';
import { listActiveKeys, listRevokedKeys } from '../../../shared/keys/list-keys.ts';
import { noDays, summaryOf, usageOf } from '../../../shared/usage/usage.ts';
import { deliveryHealth } from '../../../shared/webhooks/delivery-health.ts';
import { type DashboardRoute, signedInRoutes } from '../visit.ts';
import { overviewPage } from './overview-page.tsx';

/** The first page after signing in. */
export function overviewRoutes(service: Context): DashboardRoute[] {
  const { page } = signedInRoutes(service);
  return [
    page('/', async ({ account }) => {
      const owner = { accountId: account._id };
      const now = service.now();
      const [active, revoked, usage] = await Promise.all([
        listActiveKeys(owner),
        // The first steps look at what the account has had, too.
        listRevokedKeys(owner, 20),
        usageOf(account._id, noDays, now),
      ]);
      const keyIds = active.map(({ _id }) => _id);
      const health = await deliveryHealth(keyIds, owner);
      const keys = [...active, ...revoked];
      const rides = new Map(usage.keys.map(({ keyId, rides: count }) => [keyId, count]));
      return overviewPage({
        account,
        keys,
        usage: summaryOf(usage.keys),
        rides,
        health,
        now,
        publicBaseUrl: service.config.publicBaseUrl,
      });
    }),
  ];
}
