import { AppError } from '../../shared/base/errors.ts';
import type { Middleware } from '../types.ts';

interface Routed {
  /** The routes that match the path with any method; the router sets it. */
  matched?: { methods: string[] }[];
}

/** The end of the chain: no route has answered. A 405 if the path has a route with another method, else a 404. */
export const noRoute: Middleware = async (ctx) => {
  const methods = (ctx as Routed).matched?.flatMap((route) => route.methods) ?? [];
  if (methods.length === 0) throw new AppError('not_found');
  throw new AppError('method_not_allowed', { headers: { Allow: [...new Set(methods)].join(', ') } });
};
