import { AppError } from '../../shared/base/errors.ts';
import type { Middleware, Part } from '../part.ts';
import { jsonError } from './handle-errors.ts';
import { dataHeaders } from './security-headers.ts';
import { pathOf } from './well-formed.ts';

/** Every path that no part owns, and a request target that cannot be parsed: errors in JSON. */
const noPart: Part = {
  name: 'none',
  owns: () => true,
  headers: dataHeaders,
  routes: () => [],
  handle: (_ctx, next) => next(),
  renderError: jsonError,
};

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
