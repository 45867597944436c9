import type { Context } from '../../shared/base/context.ts';
import { describeError } from '../../shared/base/errors.ts';
import { batch } from '../../shared/base/mongo/batch.ts';
import type { PoolName } from '../../shared/base/queues.ts';
import type { RedisClient } from '../../shared/base/redis/redis-nodes.ts';

/** After a timeout, the key's deliveries use the slow lane for this long. */
const markMs = 60_000;

/**
 * A sorted set of the keys that are marked as slow. A key's score is when its mark expires (Unix ms, MongoDB's clock).
 */
const slowKeys = 'rides:slow';

/**
 * Concurrency limit per key in this process's fast lane; further deliveries of the key use the slow lane. A key is
 * marked as slow only after its first timeout, which takes 8 s. Without this limit, it could use the whole concurrency
 * of the pool in that time.
 */
const maxPerKey = 8;

/** The number of attempts in flight in this process's fast lane, by key. */
const inFlight = new Map<string, number>();

/**
 * Registers an attempt in the lane of a pool. Resolves with a function that unregisters it, or with null if the key
 * belongs in the slow lane: it is marked as slow or has too many attempts in flight.
 */
export async function enterLane(
  ctx: Pick<Context, 'redis' | 'now'>,
  keyId: string,
  pool: PoolName,
): Promise<(() => void) | null> {
  if (pool === 'webhooks-slow') return () => {};
  if (await isSlow(ctx, keyId)) return null;
  const count = inFlight.get(keyId) ?? 0;
  if (count >= maxPerKey) return null;
  inFlight.set(keyId, count + 1);
  return () => {
    const left = (inFlight.get(keyId) ?? 1) - 1;
    if (left > 0) inFlight.set(keyId, left);
    else inFlight.delete(keyId);
  };
}

/**
 * Marks a key after an attempt timed out. If Redis loses the mark, that is harmless, because it only decides in which
 * queue events wait.
 */
export async function markSlow(ctx: Pick<Context, 'redis' | 'log' | 'now'>, keyId: string): Promise<void> {
  try {
    await ctx.redis.zadd(slowKeys, ctx.now() + markMs, keyId);
    await ctx.redis.zremrangebyscore(slowKeys, 0, ctx.now());
  } catch (error) {
    ctx.log.debug({ keyId, error: describeError(error) }, 'slow key not marked');
  }
}

/** Resolves with true if a key is marked as slow. While Redis is unavailable, no key counts as slow. */
export async function isSlow(ctx: Pick<Context, 'redis' | 'now'>, keyId: string): Promise<boolean> {
  try {
    return (await markExpiry(ctx.redis)(keyId)) > ctx.now();
  } catch {
    return false;
  }
}

const expiryReaders = new WeakMap<RedisClient, (keyId: string) => Promise<number>>();

/** Reads when a key's mark expires (Unix ms); 0 without a mark. Concurrent reads share one command. */
function markExpiry(redis: RedisClient): (keyId: string) => Promise<number> {
  const known = expiryReaders.get(redis);
  if (known) return known;
  const read = batch<string, number>(async (keyIds) => (await redis.zmscore(slowKeys, ...keyIds)).map(Number));
  expiryReaders.set(redis, read);
  return read;
}
