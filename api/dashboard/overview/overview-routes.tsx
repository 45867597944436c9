import type { Context } from '../../../shared/context.ts';
import { listKeys } from '../../../shared/keys/manage-keys.ts';
import { ridesByKey, usageSummary } from '../../../shared/usage/usage.ts';
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
      const [keys, usage, rides] = await Promise.all([
        listKeys(owner),
        usageSummary(account._id, now),
        ridesByKey(account._id, now),
      ]);
      const active = keys.filter(({ revokedAt }) => !revokedAt).map(({ _id }) => _id);
      const health = await deliveryHealth(active, owner);
      return overviewPage({ account, keys, usage, rides, health, now, publicBaseUrl: service.config.publicBaseUrl });
    }),
  ];
}
