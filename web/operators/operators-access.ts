import { createHmac, timingSafeEqual } from 'node:crypto';
import { accountOf, operatorEmail } from '../../shared/accounts/account.ts';
import { audit } from '../../shared/accounts/audit.ts';
import { type KnownToken, operatorTokens } from '../../shared/accounts/operator-token.ts';
import type { Context } from '../../shared/base/context.ts';
import type { SecretsKey } from '../../shared/base/encryption.ts';
import { describeError } from '../../shared/base/errors.ts';
import { sha256 } from '../../shared/base/ids.ts';

export const operatorsPath = '/ops';
/** The lifetime of the cookie. */
export const operatorsLifetimeMs = 12 * 3_600_000;

/**
 * The value of the cookie that a browser gets in exchange for OPS_TOKEN or a personal token. It contains its expiry, an
 * HMAC and the id of the personal token, never the token. `secret` is OPS_TOKEN, or derived from the personal token
 * (`secretOf`).
 */
export function operatorsProof(secret: string, now: () => number, tokenId = '') {
  const proofOf = (until: string) =>
    createHmac('sha256', secret).update(`operators’ cookie ${until}`).digest('base64url');
  return {
    create(): string {
      const until = String(now() + operatorsLifetimeMs);
      return [until, proofOf(until), tokenId].filter(Boolean).join('.');
    },
    isValid(cookie: string): boolean {
      const [until = '', proof = '', id = ''] = cookie.split('.');
      return id === tokenId && isSame(proof, proofOf(until)) && Number(until) > now();
    },
  };
}

/** Compares in constant time. Hashing gives both the same length, which timingSafeEqual requires. */
const isSame = (a: string, b: string): boolean => timingSafeEqual(Buffer.from(sha256(a)), Buffer.from(sha256(b)));

/** Depends on SECRETS_KEY, so that nobody can make a cookie from the stored hash, for example one in a backup. */
const secretOf = ({ hash }: KnownToken, { key }: SecretsKey): string =>
  createHmac('sha256', key).update(`operators’ cookie ${hash}`).digest('hex');

export interface OperatorsAccess {
  /** True for the cookie of a valid token. */
  isValid(cookie: string): Promise<boolean>;
  /**
   * Exchanges a token for the value of a cookie, or resolves with the reason of the refusal: `wrong`, or the time until
   * this client can try again (ms).
   */
  signIn(given: string, client: string): Promise<{ cookie: string } | 'wrong' | { tooMany: number }>;
}

/** Who may open the operators' pages; null if the settings turn these pages off. */
export function operatorsAccess(service: Pick<Context, 'config' | 'now' | 'log'>): OperatorsAccess | null {
  const { config, now, log } = service;
  const isPersonal = config.ops.auth === 'personal';
  const sharedToken = isPersonal ? '' : config.secrets.opsToken;
  if (!isPersonal && !sharedToken) return null;
  const tokens = operatorTokens(now);
  const shared = operatorsProof(sharedToken, now);
  const isShared = (given: string) => sharedToken !== '' && isSame(given, sharedToken);

  /** Records the visit. A failure is only logged, because the pages are needed most during an outage. */
  async function record(from: string, by: string): Promise<void> {
    try {
      const { _id: accountId } = await accountOf(operatorEmail);
      await audit({ accountId, action: 'operator_signed_in', by, from }, now());
    } catch (error) {
      log.warn({ error: describeError(error) }, 'sign-in of an operator not recorded');
    }
  }

  return {
    async isValid(cookie) {
      const [, , tokenId] = cookie.split('.');
      if (!tokenId) return sharedToken !== '' && shared.isValid(cookie);
      const token = await tokens.withId(tokenId);
      if (token === null) return false;
      return config.secrets.keys.some((key) => operatorsProof(secretOf(token, key), now, token._id).isValid(cookie));
    },
    async signIn(given, client) {
      const checked = await tokens.check(given, client, isShared);
      if (checked === 'wrong' || (typeof checked === 'object' && 'tooMany' in checked)) return checked;
      await record(client, checked === 'shared' ? 'OPS_TOKEN' : checked.owner);
      if (checked === 'shared') return { cookie: shared.create() };
      return { cookie: operatorsProof(secretOf(checked, config.secrets.keys[0]), now, checked._id).create() };
    },
  };
}
