import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Config } from '../config.ts';
import { derivedBase62 } from '../ids.ts';

/** What an HMAC is for. Each purpose has a key of its own, derived from SECRETS_KEY. */
type Purpose = 'sign-in codes' | 'device cookies' | 'new API keys' | 'new signing secrets';

type Secrets = Pick<Config['secrets'], 'keys'>;

/** The HMAC of a text under the first SECRETS_KEY. */
export function macOf({ keys: [first] }: Secrets, purpose: Purpose, text: string): string {
  return macUnder(first, purpose, text);
}

/** Whether this is the HMAC of the text under any listed SECRETS_KEY. Takes the same time for every wrong one. */
export function isMacOf({ keys }: Secrets, purpose: Purpose, text: string, mac: string): boolean {
  const given = Buffer.from(mac);
  const matches = keys.map((key) => {
    const expected = Buffer.from(macUnder(key, purpose, text));
    return expected.length === given.length && timingSafeEqual(expected, given);
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
