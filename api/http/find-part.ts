import { isIPv6 } from 'node:net';
import type { Config } from '../../shared/base/config.ts';
import { AppError } from '../../shared/base/errors.ts';
import type { Middleware, Part, RequestContext } from '../part.ts';
import { jsonError } from './handle-errors.ts';
import { dataHeaders } from './security-headers.ts';

/** Finds the part that owns the request's path, and sets that part's headers and those of every part on the answer. */
export function findPart(parts: readonly Part[], { hsts }: Pick<Config, 'hsts'>): Middleware {
  const strictTransport = `max-age=31536000${hsts === 'subdomains' ? '; includeSubDomains' : ''}`;
  return (ctx, next) => {
    const path = pathOf(ctx);
    const isOwner = (part: Part, path: string) => part.owns(path) && (!part.onlyForPages || prefersPage(ctx));
    const part = (path !== undefined && parts.find((candidate) => isOwner(candidate, path))) || noPart;
    ctx.state.part = part;
    ctx.res.setHeaders(part.headers as Map<string, string>);
    ctx.res.setHeader('Strict-Transport-Security', strictTransport);
    if (part === noPart || part.onlyForPages) ctx.vary('Accept');
    return next();
  };
}

/** True for browsers. A client that accepts anything, or has no preference, gets JSON. */
export const prefersPage = (ctx: RequestContext): boolean => ctx.accepts('json', 'html') === 'html';

/** Answers a request whose path no part owns, or whose target cannot be parsed. */
const noPart: Part = {
  name: 'none',
  owns: () => true,
  headers: dataHeaders,
  routes: () => [],
  handle: (_ctx, next) => next(),
  renderError: jsonError,
};

/** The request's path; undefined if the request target cannot be parsed, because Koa's `path` then throws. */
function pathOf(ctx: { path: string }): string | undefined {
  try {
    return ctx.path;
  } catch {
    return undefined;
  }
}

/** Answers 400 to a request that Node accepts but HTTP forbids: an unparsable target or an invalid Host (RFC 9112). */
export const refuseMalformed: Middleware = (ctx, next) => {
  if (pathOf(ctx) === undefined || !hasValidHost(ctx.req)) throw new AppError('invalid_request');
  return next();
};

/** HTTP/1.1 requires exactly one Host line, earlier versions permit one (RFC 9112, section 3.2). */
function hasValidHost({ headers, rawHeaders, httpVersion }: RequestContext['req']): boolean {
  const { host } = headers;
  if (host === undefined) return httpVersion !== '1.1';
  let lines = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    // The length is compared first, because this code runs for every header of every request.
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') lines += 1;
  }
  return lines === 1 && isHost(host);
}

/** `uri-host [ ":" port ]`, where the host may be empty (RFC 3986, section 3.2.2). */
function isHost(host: string): boolean {
  const literal = /^\[(.*)\](?::\d*)?$/.exec(host);
  return literal ? isIPv6(literal[1] as string) : /^(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*(?::\d*)?$/i.test(host);
}

interface RouterContext {
  /** The routes that match the path with any method. Set by the router. */
  matched?: { methods: string[] }[];
}

/** The last step, if no route has answered: a 405 if the path has routes for other methods, else a 404. */
export const refuseUnknownRoute: Middleware = async (ctx) => {
  const methods = (ctx as RouterContext).matched?.flatMap((route) => route.methods) ?? [];
  if (methods.length === 0) throw new AppError('not_found');
  throw new AppError('method_not_allowed', { headers: { Allow: [...new Set(methods)].join(', ') } });
};
