import type { Part } from '../part.ts';
import type { Middleware } from '../types.ts';
import { jsonError } from './json-error.ts';
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
