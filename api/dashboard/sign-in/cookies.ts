import { randomBytes } from 'node:crypto';
import { deviceId, newDevice } from '../../../shared/accounts/device.ts';
import { signInLifetimeMs } from '../../../shared/accounts/sign-in.ts';
import type { Config } from '../../../shared/base/config.ts';
import { sha256 } from '../../../shared/base/ids.ts';
import { type HostCookie, hostCookie } from '../../http/credentials.ts';
import type { RequestContext } from '../../part.ts';
import { sessionCookie } from '../page-routes.ts';

const isToken = (text: string): boolean => /^[\w-]{43}$/.test(text);
const deviceLifetimeMs = 365 * 24 * 3_600_000;

/**
 * The cookies of the dashboard: one for a browser that requests a code, one for a session, and one for a known browser.
 */
export function signInCookies(config: Pick<Config, 'environment' | 'secrets'>) {
  const browserCookie = hostCookie(config, 'sign_in');
  // Each address has its own cookie, because one browser may use several accounts.
  const deviceCookie = (email: string): HostCookie => hostCookie(config, `device_${sha256(email).slice(0, 12)}`);
  return {
    session: sessionCookie(config),
    /**
     * The browser's token, to which codes are bound. The browser receives it with the sign-in page, before it requests
     * a code.
     */
    browserToken(ctx: RequestContext): string {
      const kept = browserCookie.read(ctx);
      const token = isToken(kept) ? kept : randomBytes(32).toString('base64url');
      browserCookie.write(ctx, token, signInLifetimeMs);
      return token;
    },
    /** The browser's token, or null. Unlike `browserToken`, this sets no cookie. */
    askedToken(ctx: RequestContext): string | null {
      const kept = browserCookie.read(ctx);
      return isToken(kept) ? kept : null;
    },
    /** The id of a browser that has signed in with this address before; null otherwise. */
    device: (ctx: RequestContext, email: string) => deviceId(config, deviceCookie(email).read(ctx), email),
    /** Marks the browser as known for this address, and ends its request for a code. */
    knowBrowser(ctx: RequestContext, email: string): void {
      browserCookie.clear(ctx);
      const cookie = deviceCookie(email);
      const kept = cookie.read(ctx);
      cookie.write(ctx, deviceId(config, kept, email) ? kept : newDevice(config, email), deviceLifetimeMs);
    },
  };
}
