import type { Config } from '../base/config.ts';
import { randomBase62 } from '../base/ids.ts';
import { isMacOf, macOf } from './derived-keys.ts';

/**
 * A browser in which somebody has signed in with an address before (OWASP: device cookies). It is counted apart from all
 * other browsers, so a stranger who uses up the tries of an address does not lock its owner out.
 */

/** A device cookie holds a random id and proves by an HMAC for which address it was made. */
export function newDevice({ secrets }: Pick<Config, 'secrets'>, email: string): string {
  const id = randomBase62(22);
  return `${id}.${macOf(secrets, 'device cookies', `${id} ${email}`)}`;
}

/** The id in a device cookie, or null unless it was made for this address. */
export function deviceId({ secrets }: Pick<Config, 'secrets'>, cookie: string, email: string): string | null {
  const [id = '', mac = ''] = cookie.split('.');
  return isMacOf(secrets, 'device cookies', `${id} ${email}`, mac) ? id : null;
}
