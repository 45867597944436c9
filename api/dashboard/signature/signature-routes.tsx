import type { Context } from '../../../shared/base/context.ts';
import { type DashboardRoute, signedInRoutes } from '../visit.ts';
import { signaturePage } from './signature-page.tsx';

/** The signature check. It happens in the browser: no request holds a secret. */
export function signatureRoutes(service: Context): DashboardRoute[] {
  const { page } = signedInRoutes(service);
  return [page('/signature', ({ account }) => signaturePage(account))];
}
