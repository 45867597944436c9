import type { Config } from '../../shared/base/config.ts';
import type { RequestContext } from '../types.ts';

/** A cookie that no script can read and that no other site's form sends. In production browsers bind it to this very host. */
export interface OwnCookie {
  read(ctx: RequestContext): string;
  write(ctx: RequestContext, value: string, lifetimeMs: number): void;
  clear(ctx: RequestContext): void;
}

export function ownCookie({ environment }: Pick<Config, 'environment'>, plainName: string): OwnCookie {
  const secure = environment === 'production';
  const name = secure ? `__Host-${plainName}` : plainName;
  const set = (ctx: RequestContext, value: string, maxAge: number) => {
    // TLS ends at the proxy, so the connection itself is not encrypted.
    ctx.cookies.secure = secure;
    ctx.cookies.set(name, value, { httpOnly: true, sameSite: 'lax', secure, path: '/', maxAge, overwrite: true });
  };
  return {
    read: (ctx) => ctx.cookies.get(name) ?? '',
    write: (ctx, value, lifetimeMs) => set(ctx, value, lifetimeMs),
    clear: (ctx) => set(ctx, '', 0),
  };
}
