import type { Context } from '../base/context.ts';
import { type AppError, describeError, limitReached } from '../base/errors.ts';
import { randomBase62, sha256 } from '../base/ids.ts';
import type { NewRide } from './create-ride.ts';
import {
  accountWindows,
  type Creation,
  keyWindows,
  type LimitWindow,
  localLog,
  redisLog,
  type WindowCount,
  type WindowCounts,
} from './creation-limit.ts';

export interface Charge {
  /** The RateLimit headers of the response (IETF draft). */
  headers: Record<string, string>;
  /** Refunds the charge of a creation that failed, unless another request shares it. Never fails. */
  refund(): Promise<void>;
}

/**
 * Counts a key's creations (contract, section 8, or the key's own limit). The count is exact across all processes. While
 * Redis is unavailable, each process counts only its own. If the operator has set a limit for accounts, all keys of an
 * account are also counted together. Requests with the same Idempotency-Key count as one creation, even if concurrent.
 *
 * The returned function throws `rate_limited`. Retry-After is the number of seconds until all exhausted windows have room.
 */
export function chargeCreations(service: Pick<Context, 'redis' | 'now' | 'log' | 'config'>) {
  const chargeKey = chargeWindows(service);
  const { ridesPerAccountMinute } = service.config;
  const chargeAccount = ridesPerAccountMinute > 0 && chargeWindows(service);

  /** Charges the account, then the key. Not atomic, because their logs can be on two nodes of a Redis Cluster. */
  return async ({ key: { keyId, accountId, limit }, idempotencyKey }: NewRide): Promise<Charge> => {
    // The same Idempotency-Key with two API keys means two creations.
    const ofAccount = idempotencyKey === undefined ? undefined : `${keyId} ${idempotencyKey}`;
    const account = chargeAccount && (await chargeAccount(accountId, accountWindows(ridesPerAccountMinute), ofAccount));
    try {
      const charged = await chargeKey(keyId, keyWindows(limit), idempotencyKey);
      return account ? combineCharges(charged, account) : charged;
    } catch (error) {
      if (account) await account.refund();
      throw error;
    }
  };
}

const combineCharges = (one: Charge, other: Charge): Charge => ({
  headers: Object.fromEntries(
    Object.entries(one.headers).map(([name, value]) => [name, `${value}, ${other.headers[name]}`]),
  ),
  async refund() {
    await Promise.all([one.refund(), other.refund()]);
  },
});

function chargeWindows({ redis, now, log: logger }: Pick<Context, 'redis' | 'now' | 'log'>) {
  const shared = redisLog(redis);
  const local = localLog(now);
  let isShared = true;

  return async function charge(id: string, windows: readonly LimitWindow[], idempotencyKey?: string): Promise<Charge> {
    const creation: Creation =
      idempotencyKey === undefined
        ? { id: randomBase62(16), isRepeatable: false }
        : { id: sha256(idempotencyKey), isRepeatable: true };
    let log = shared;
    let charged: WindowCounts;
    try {
      charged = await shared.charge(id, creation, windows);
      isShared = true;
    } catch (error) {
      // An outage of Redis is logged elsewhere. Any other failure is logged here, once until it is over.
      if (redis.status === 'ready' && isShared)
        logger.warn({ error: describeError(error) }, 'limit counted in this process only');
      isShared = false;
      log = local;
      charged = await local.charge(id, creation, windows);
    }
    const { result, counts } = charged;
    if (result === 'refused') throw refusal(counts);
    const refund = async () => {
      await log.refund(id, creation);
    };
    // A failed refund is ignored: it costs the key one creation for an hour, which is better than hiding the original
    // error.
    return { headers: limitHeaders(counts), refund: () => refund().catch(() => {}) };
  };
}

/** The 429. Of the exhausted windows, it names the one that will have room last. */
function refusal(windows: readonly WindowCount[]): AppError {
  const exhausted = windows.filter(({ count, limit }) => count >= limit);
  const [last] = exhausted.sort((a, b) => b.freesMs - a.freesMs);
  const headers = { ...limitHeaders(windows), 'Retry-After': String(toWholeSeconds(last?.freesMs ?? 0)) };
  return limitReached('rate_limited', last?.words ?? '', headers);
}

const toWholeSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

function limitHeaders(windows: readonly WindowCount[]): Record<string, string> {
  const list = (parameters: (window: WindowCount) => string) =>
    windows.map((window) => `"${window.name}";${parameters(window)}`).join(', ');
  return {
    'RateLimit-Policy': list(({ limit, lengthMs }) => `q=${limit};w=${lengthMs / 1_000}`),
    RateLimit: list(({ limit, count, freesMs }) => `r=${Math.max(0, limit - count)};t=${toWholeSeconds(freesMs)}`),
  };
}
