import { randomBytes } from 'node:crypto';
import { deviceId, newDevice } from '../../shared/accounts/derived-keys.ts';
import { signInLifetimeMs } from '../../shared/accounts/enter-code.ts';
import { sha256 } from '../../shared/base/ids.ts';
import { type PageRequest, sessionCookie } from '../kit/answer.ts';

const isToken = (text: string): boolean => /^[\w-]{43}$/.test(text);
const deviceLifetimeMs = 365 * 24 * 3_600_000;

/**
 * The cookies of the dashboard: one for a browser that requests a code, one for a session, and one for a known browser.
 */
export function signInCookies({ hostCookie, service: { config } }: Pick<PageRequest, 'hostCookie' | 'service'>) {
  const browserCookie = hostCookie('sign_in');
  // Each address has its own cookie, because one browser may use several accounts.
  const deviceCookie = (email: string) => hostCookie(`device_${sha256(email).slice(0, 12)}`);
  /** The browser's token, or null. Sets no cookie. */
  function askedToken(): string | null {
    const kept = browserCookie.read();
    return isToken(kept) ? kept : null;
  }
  return {
    session: hostCookie(sessionCookie),
    askedToken,
    /**
     * The browser's token, to which codes are bound. The browser receives it with the sign-in page, before it requests
     * a code.
     */
    browserToken(): string {
      const token = askedToken() ?? randomBytes(32).toString('base64url');
      browserCookie.write(token, signInLifetimeMs);
      return token;
    },
    /** The id of a browser that has signed in with this address before; null otherwise. */
    device: (email: string) => deviceId(config, deviceCookie(email).read(), email),
    /** Marks the browser as known for this address, and ends its request for a code. */
    knowBrowser(email: string): void {
      browserCookie.clear();
      const cookie = deviceCookie(email);
      const kept = cookie.read();
      cookie.write(deviceId(config, kept, email) ? kept : newDevice(config, email), deviceLifetimeMs);
    },
  };
}
