import { isIPv6 } from 'node:net';
import { AppError } from '../../shared/base/errors.ts';
import type { Middleware } from '../part.ts';

/** Answers 400 to what Node accepts and HTTP forbids: an unparsable request target, and a Host that RFC 9112 rejects. */
export const refuseMalformed: Middleware = (ctx, next) => {
  if (pathOf(ctx) === undefined || !hasValidHost(ctx.req)) throw new AppError('invalid_request');
  return next();
};

/** The request's path; undefined where the request target cannot be parsed, because Koa's `path` then throws. */
export function pathOf(ctx: { path: string }): string | undefined {
  try {
    return ctx.path;
  } catch {
    return undefined;
  }
}

/** One Host line in HTTP/1.1, at most one before (RFC 9112, section 3.2). */
function hasValidHost({ headers, rawHeaders, httpVersion }: Parameters<Middleware>[0]['req']): boolean {
  const { host } = headers;
  if (host === undefined) return httpVersion !== '1.1';
  let lines = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    // The length is compared first because this runs for every header of every request.
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
