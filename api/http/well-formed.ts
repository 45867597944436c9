import { AppError } from '../../shared/errors.ts';
import type { Middleware } from '../types.ts';

/** Refuses what Node lets through and HTTP does not: a request target that cannot be read, and HTTP/1.1 without Host. */
export const wellFormed: Middleware = (ctx, next) => {
  if (!hasPath(ctx) || (ctx.req.httpVersion === '1.1' && ctx.req.headers.host === undefined)) {
    throw new AppError('invalid_request');
  }
  return next();
};

function hasPath(ctx: { path: string }): boolean {
  try {
    return typeof ctx.path === 'string';
  } catch {
    return false;
  }
}
