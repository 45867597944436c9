import type { Config } from '../base/config.ts';
import { randomBase62 } from '../base/ids.ts';
import { isMacOf, macOf } from './derived-keys.ts';

/**
 * A device is a browser that has signed in with an address before (OWASP: device cookies). Each device has its own
 * rate-limit bucket, so a stranger who uses up the tries of an address does not lock out the owner of the address.
 */

/** A new device cookie: a random id, and an HMAC that binds it to the address. */
export function newDevice({ secrets }: Pick<Config, 'secrets'>, email: string): string {
  const id = randomBase62(22);
  return `${id}.${macOf(secrets, 'device cookies', `${id} ${email}`)}`;
}

/** The id in a device cookie; null if the cookie was not made for this address. */
export function deviceId({ secrets }: Pick<Config, 'secrets'>, cookie: string, email: string): string | null {
  const [id = '', mac = ''] = cookie.split('.');
  return isMacOf(secrets, 'device cookies', `${id} ${email}`, mac) ? id : null;
}
