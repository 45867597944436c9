import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Config } from '../base/config.ts';
import { derivedBase62, randomBase62 } from '../base/ids.ts';

/** The purposes of HMACs. Each purpose has its own key, derived from SECRETS_KEY. */
type Purpose =
  | 'sign-in codes'
  | 'new codes'
  | 'sign-in links'
  | 'device cookies'
  | 'session tokens'
  | 'invitations'
  | 'new API keys'
  | 'new signing secrets';

type Secrets = Pick<Config['secrets'], 'keys'>;

/** The HMAC of a text with the first SECRETS_KEY, 256 bits in base64url. */
export function macOf({ keys: [first] }: Secrets, purpose: Purpose, text: string): string {
  return macUnder(first, purpose, text);
}

/** The HMACs of a text with each listed SECRETS_KEY, in their order. */
export function macsOf({ keys }: Secrets, purpose: Purpose, text: string): string[] {
  return keys.map((key) => macUnder(key, purpose, text));
}

/** True if `mac` is the HMAC of the text with any listed SECRETS_KEY. Compares in constant time. */
export function isMacOf(secrets: Secrets, purpose: Purpose, text: string, mac: string): boolean {
  return isOneOf(macsOf(secrets, purpose, text), mac);
}

/** True if `given` is one of these secret texts. Compares in constant time. */
export function isOneOf(secretTexts: readonly string[], given: string): boolean {
  const bytes = Buffer.from(given);
  const matches = secretTexts.map((text) => {
    const expected = Buffer.from(text);
    return expected.length === bytes.length && timingSafeEqual(expected, bytes);
  });
  return matches.includes(true);
}

/**
 * For each listed SECRETS_KEY, in their order: 32 base62 characters (190 bits) derived from that key and a text. The
 * same text always gives the same results, and nobody can derive them without SECRETS_KEY.
 */
export function secretsFor({ keys }: Secrets, purpose: Purpose, text: string): [string, ...string[]] {
  const derive = (key: Secrets['keys'][number]) =>
    derivedBase62(32, (block) => Buffer.from(macUnder(key, purpose, `${block} ${text}`), 'base64url'));
  const [first, ...others] = keys;
  return [derive(first), ...others.map(derive)];
}

function macUnder({ key }: Secrets['keys'][number], purpose: Purpose, text: string): string {
  const derived = createHmac('sha256', key).update(`the key of ${purpose}`).digest();
  return createHmac('sha256', derived).update(text).digest('base64url');
}

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
