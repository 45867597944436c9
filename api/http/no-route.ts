import { AppError } from '../../shared/errors.ts';
import type { Middleware } from '../types.ts';

interface Routed {
  /** The routes whose path fits, whatever their method; the routers put them there. */
  matched?: { methods: string[] }[];
}

/** Stands behind a router: what comes here has a wrong method (405) or an unknown path (404). */
export const noRoute: Middleware = async (ctx) => {
  const methods = (ctx as Routed).matched?.flatMap((route) => route.methods) ?? [];
  if (methods.length === 0) throw new AppError('not_found');
  throw new AppError('method_not_allowed', { headers: { Allow: [...new Set(methods)].join(', ') } });
};
