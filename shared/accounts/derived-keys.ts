import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Config } from '../base/config.ts';
import { derivedBase62 } from '../base/ids.ts';

/** Each purpose of an HMAC has a key of its own, derived from SECRETS_KEY. */
type Purpose =
  | 'sign-in codes'
  | 'new codes'
  | 'sign-in links'
  | 'device cookies'
  | 'session tokens'
  | 'new API keys'
  | 'new signing secrets';

type Secrets = Pick<Config['secrets'], 'keys'>;

/** The HMAC of a text under the first SECRETS_KEY, 256 bits in base64url. */
export function macOf({ keys: [first] }: Secrets, purpose: Purpose, text: string): string {
  return macUnder(first, purpose, text);
}

/** The HMACs of a text under all listed SECRETS_KEYs, in their order. */
export function macsOf({ keys }: Secrets, purpose: Purpose, text: string): string[] {
  return keys.map((key) => macUnder(key, purpose, text));
}

/** Whether this is the HMAC of the text under any listed SECRETS_KEY. Takes the same time for every wrong one. */
export function isMacOf(secrets: Secrets, purpose: Purpose, text: string, mac: string): boolean {
  return isOneOf(macsOf(secrets, purpose, text), mac);
}

/** Whether a secret text is one of these. Takes the same time for every wrong one. */
export function isOneOf(secretTexts: readonly string[], given: string): boolean {
  const bytes = Buffer.from(given);
  const matches = secretTexts.map((text) => {
    const expected = Buffer.from(text);
    return expected.length === bytes.length && timingSafeEqual(expected, bytes);
  });
  return matches.includes(true);
}

/**
 * 32 base62 characters (190 bits) for each listed SECRETS_KEY, derived from it and a text; the first SECRETS_KEY comes first.
 * Nobody can derive them without SECRETS_KEY, and the same text gives the same ones again.
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
