import type { Context } from '../../../shared/context.ts';
import { dashboardPage, PageHead } from '../frame.tsx';
import { type DashboardRoute, signedInRoutes } from '../visit.ts';

/** The first page after signing in. */
export function overviewRoutes(service: Context): DashboardRoute[] {
  const { page } = signedInRoutes(service);
  return [
    page('/', ({ account }) =>
      dashboardPage({ title: 'Overview', account, room: 'overview', children: <PageHead title="Overview" /> }),
    ),
  ];
}
