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

/** Tells the log the pattern of the route, also when the route throws. */
export const nameRoute: Middleware = async (ctx, next) => {
  try {
    await next();
  } finally {
    const { _matchedRoute } = ctx as { _matchedRoute?: string };
    if (_matchedRoute) ctx.state.route = _matchedRoute;
  }
};
