import { createHmac, timingSafeEqual } from 'node:crypto';
import { accountOf, operatorEmail } from '../../shared/accounts/account.ts';
import { audit } from '../../shared/accounts/audit.ts';
import { type KnownToken, operatorTokens } from '../../shared/accounts/operator-token.ts';
import type { Context } from '../../shared/base/context.ts';
import type { SecretsKey } from '../../shared/base/encryption.ts';
import { describeError } from '../../shared/base/errors.ts';
import { sha256 } from '../../shared/base/ids.ts';
import { clientNetwork } from '../http/forwarded.ts';
import type { RequestContext } from '../part.ts';

/** The path of the sign-in page, and of the cookie. */
export const operatorsPath = '/ops';
const cookieName = 'rides_ops';
const sessionLifetimeMs = 12 * 3_600_000;

/**
 * The cookie that a browser gets in exchange for OPS_TOKEN or a personal token. It contains its expiry, an HMAC and the
 * id of the personal token, never the token. `secret` is OPS_TOKEN, or derived from the personal token (`secretOf`).
 */
export function operatorsCookie(secret: string, now: () => number, tokenId = '') {
  const proofOf = (until: string) =>
    createHmac('sha256', secret).update(`operators’ cookie ${until}`).digest('base64url');
  return {
    write(ctx: RequestContext): void {
      const until = String(now() + sessionLifetimeMs);
      // Not `secure`, because the operators' port serves plain HTTP, on loopback or through a tunnel.
      const options = {
        httpOnly: true,
        sameSite: 'strict',
        path: operatorsPath,
        maxAge: sessionLifetimeMs,
        overwrite: true,
      } as const;
      ctx.cookies.set(cookieName, [until, proofOf(until), tokenId].filter(Boolean).join('.'), options);
    },
    isHeld(ctx: RequestContext): boolean {
      const [until = '', proof = '', id = ''] = (ctx.cookies.get(cookieName) ?? '').split('.');
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
  /** True if the request has the cookie of a valid token. */
  isHeld(ctx: RequestContext): Promise<boolean>;
  /**
   * Exchanges a token for a cookie. Resolves with null, or with the reason of the refusal: `wrong`, or the time until
   * this client can try again (ms).
   */
  signIn(ctx: RequestContext, given: string): Promise<null | 'wrong' | { tooMany: number }>;
}

/** Who may open the operators' pages; null if the settings turn these pages off. */
export function operatorsAccess(service: Pick<Context, 'config' | 'now' | 'log'>): OperatorsAccess | null {
  const { config, now, log } = service;
  const isPersonal = config.ops.auth === 'personal';
  const sharedToken = isPersonal ? '' : config.secrets.opsToken;
  if (!isPersonal && !sharedToken) return null;
  const tokens = operatorTokens(now);
  const shared = operatorsCookie(sharedToken, now);
  const isShared = (given: string) => sharedToken !== '' && isSame(given, sharedToken);

  /** Records the visit. A failure is only logged, because the pages are needed most during an outage. */
  async function record(ctx: RequestContext, by: string): Promise<void> {
    try {
      const { _id: accountId } = await accountOf(operatorEmail);
      await audit({ accountId, action: 'operator_signed_in', by, from: clientOf(ctx) }, now());
    } catch (error) {
      log.warn({ error: describeError(error) }, 'sign-in of an operator not recorded');
    }
  }

  return {
    async isHeld(ctx) {
      const [, , tokenId] = (ctx.cookies.get(cookieName) ?? '').split('.');
      if (!tokenId) return sharedToken !== '' && shared.isHeld(ctx);
      const token = await tokens.withId(tokenId);
      if (token === null) return false;
      return config.secrets.keys.some((key) => operatorsCookie(secretOf(token, key), now, token._id).isHeld(ctx));
    },
    async signIn(ctx, given) {
      const checked = await tokens.check(given, clientOf(ctx), isShared);
      if (checked === 'wrong' || (typeof checked === 'object' && 'tooMany' in checked)) return checked;
      if (checked === 'shared') shared.write(ctx);
      else operatorsCookie(secretOf(checked, config.secrets.keys[0]), now, checked._id).write(ctx);
      await record(ctx, checked === 'shared' ? 'OPS_TOKEN' : checked.owner);
      return null;
    },
  };
}

const clientOf = (ctx: RequestContext): string => clientNetwork(ctx.req.socket.remoteAddress ?? 'unknown');
