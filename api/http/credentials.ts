import type { Config } from '../../shared/base/config.ts';
import { AppError } from '../../shared/base/errors.ts';
import type { Middleware, RequestContext } from '../part.ts';

/** The key in a request's headers, or ''. The token of a Bearer scheme counts before X-Api-Key, even if it is empty. */
export function readApiKey(ctx: RequestContext): string {
  const bearer = /^Bearer(?:\s+(.*))?$/i.exec(ctx.get('authorization').trim());
  return bearer ? (bearer[1] ?? '').trim() : ctx.get('x-api-key').trim();
}

/** A cookie that scripts cannot read and forms of other sites do not send. In production, it is bound to this host. */
export function hostCookie({ environment }: Pick<Config, 'environment'>, plainName: string) {
  const secure = environment === 'production';
  const name = secure ? `__Host-${plainName}` : plainName;
  return ({ cookies }: RequestContext) => {
    const write = (value: string, maxAge: number): void => {
      // TLS ends at the proxy, so the connection itself is not encrypted.
      cookies.secure = secure;
      cookies.set(name, value, { httpOnly: true, sameSite: 'lax', secure, path: '/', maxAge, overwrite: true });
    };
    return { read: (): string => cookies.get(name) ?? '', write, clear: () => write('', 0) };
  };
}

/** The cookie of an operator. Not `secure`: the operators' port serves plain HTTP, on loopback or through a tunnel. */
export const operatorsCookie = ({ cookies }: RequestContext) => ({
  read: (): string => cookies.get('rides_ops') ?? '',
  write: (value: string, maxAge: number): void => {
    cookies.set('rides_ops', value, { httpOnly: true, sameSite: 'strict', path: '/ops', maxAge, overwrite: true });
  },
});

/**
 * Protects against CSRF: refuses a change (403) that a page of another site sends with the browser's session cookie.
 * `Sec-Fetch-Site` names the sender's site; older browsers send only `Origin`.
 */
export function refuseForeignChanges({ publicBaseUrl }: Pick<Config, 'publicBaseUrl'>): Middleware {
  const ownOrigin = new URL(publicBaseUrl).origin;
  return (ctx, next) => {
    if (ctx.method === 'GET' || ctx.method === 'HEAD') return next();
    const site = ctx.get('sec-fetch-site');
    const isOwn = site ? site === 'same-origin' || site === 'none' : ctx.get('origin') === ownOrigin;
    if (!isOwn) throw new AppError('foreign_change');
    return next();
  };
}
