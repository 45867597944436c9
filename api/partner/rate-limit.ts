import type { Context } from '../../shared/context.ts';
import { AppError, describeError } from '../../shared/errors.ts';
import { randomBase62, sha256 } from '../../shared/ids.ts';
import { type Creation, type Entry, type Held, hour, localLog, minute, redisLog } from './sliding-log.ts';

export interface Charge {
  /** The draft RateLimit fields of the answer. */
  headers: Record<string, string>;
  /** Takes the charge back where the creation failed, and with it all others that share the charge. Never fails. */
  refund(): Promise<void>;
}

/**
 * Counts a key's creations (contract, section 8), exactly over all processes; while Redis is away, in this process
 * alone. Throws `rate_limited` with Retry-After, the seconds until the longer exhausted window frees. Repeats with one
 * Idempotency-Key are one creation, also while the first is still under way.
 */
export function creationLimiter({ redis, now, log: logger }: Pick<Context, 'redis' | 'now' | 'log'>) {
  const shared = redisLog(redis);
  const local = localLog(now);

  return async function charge(keyId: string, idempotencyKey?: string): Promise<Charge> {
    const creation: Creation =
      idempotencyKey === undefined
        ? { member: randomBase62(16), isRepeatable: false }
        : { member: sha256(idempotencyKey), isRepeatable: true };
    let log = shared;
    let entry: Entry;
    try {
      entry = await shared.enter(keyId, creation);
    } catch (error) {
      // While Redis is away that is said once, elsewhere; a limit that fails for another reason must not hide.
      if (redis.status === 'ready') logger.warn({ keyId, error: describeError(error) }, 'limit counted here alone');
      log = local;
      entry = await local.enter(keyId, creation);
    }
    if (entry.result === 'refused') throw refusal(entry);
    const refund = async () => {
      await log.withdraw(keyId, creation);
    };
    // Where the refund fails, the key has one creation less for this hour: better than an error on top of the first.
    return { headers: limitHeaders(entry), refund: () => refund().catch(() => {}) };
  };
}

function refusal(entry: Entry): AppError {
  const exhausted = [minute, hour].filter(({ name, limit }) => entry[name].count >= limit);
  const waitMs = Math.max(...exhausted.map(({ name }) => entry[name].freesMs));
  return new AppError('rate_limited', { headers: { ...limitHeaders(entry), 'Retry-After': String(seconds(waitMs)) } });
}

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

function limitHeaders(entry: Entry): Record<string, string> {
  const left = (limit: number, { count, freesMs }: Held) => `r=${Math.max(0, limit - count)};t=${seconds(freesMs)}`;
  const item = (window: typeof minute | typeof hour, parameters: string) => `"${window.name}";${parameters}`;
  return {
    'RateLimit-Policy': [minute, hour]
      .map((window) => item(window, `q=${window.limit};w=${window.lengthMs / 1_000}`))
      .join(', '),
    RateLimit: [minute, hour].map((window) => item(window, left(window.limit, entry[window.name]))).join(', '),
  };
}
