import { AppError } from '../../shared/base/errors.ts';
import type { Middleware, Part } from '../part.ts';
import { jsonError } from './handle-errors.ts';
import { dataHeaders } from './security-headers.ts';
import { pathOf } from './well-formed.ts';

/** Finds the part that owns the request's path, and sets that part's headers on the answer. */
export function findPart(parts: readonly Part[]): Middleware {
  return (ctx, next) => {
    const path = pathOf(ctx);
    const part = (path !== undefined && parts.find((candidate) => candidate.owns(path))) || noPart;
    ctx.state.part = part;
    ctx.res.setHeaders(part.headers as Map<string, string>);
    return next();
  };
}

/** For a path that no part owns, and for a request target that cannot be parsed. */
const noPart: Part = {
  name: 'none',
  owns: () => true,
  headers: dataHeaders,
  routes: () => [],
  handle: (_ctx, next) => next(),
  renderError: jsonError,
};

interface Routed {
  /** The routes that match the path with any method. Set by the router. */
  matched?: { methods: string[] }[];
}

/** The last step: no route has answered. Throws a 405 if the path has a route with another method, else a 404. */
export const refuseUnknownRoute: Middleware = async (ctx) => {
  const methods = (ctx as Routed).matched?.flatMap((route) => route.methods) ?? [];
  if (methods.length === 0) throw new AppError('not_found');
  throw new AppError('method_not_allowed', { headers: { Allow: [...new Set(methods)].join(', ') } });
};
