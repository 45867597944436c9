import { isIPv6 } from 'node:net';
import { AppError } from '../../shared/errors.ts';
import type { Middleware } from '../types.ts';

/** Refuses what Node lets through and HTTP does not: a request target that cannot be read, and a Host that RFC 9112 refuses. */
export const wellFormed: Middleware = (ctx, next) => {
  if (!hasPath(ctx) || !hasValidHost(ctx.req)) throw new AppError('invalid_request');
  return next();
};

function hasPath(ctx: { path: string }): boolean {
  try {
    return typeof ctx.path === 'string';
  } catch {
    return false;
  }
}

/** One Host line in HTTP/1.1, at most one before (RFC 9112, section 3.2). */
function hasValidHost({ headers, rawHeaders, httpVersion }: Parameters<Middleware>[0]['req']): boolean {
  const { host } = headers;
  if (host === undefined) return httpVersion !== '1.1';
  let lines = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    // The length is compared first: this is done for every header of every request.
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
