import type { Context } from '../../shared/context.ts';
import { overviewRoutes } from './overview/overview-routes.tsx';
import type { DashboardRoute } from './visit.ts';

/** Every route of the dashboard, room by room. */
export function dashboardRoutes(service: Context): DashboardRoute[] {
  return [...overviewRoutes(service)];
}
