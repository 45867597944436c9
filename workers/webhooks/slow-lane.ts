import type { Context } from '../../shared/base/context.ts';
import { describeError } from '../../shared/base/errors.ts';
import { batch } from '../../shared/base/mongo/batch.ts';
import type { PoolName } from '../../shared/base/queues.ts';
import type { RedisClient } from '../../shared/base/redis/redis-nodes.ts';

/** A timeout moves the key's deliveries to the slow lane for this long. */
const markMs = 60_000;

/** A sorted set of slow keys. The score is when the mark expires (Unix ms, MongoDB's clock). */
const slowKeys = 'rides:slow';

/**
 * The most attempts of one key at a time in this process's fast lane. A key that is not marked yet needs 8 s for its first
 * timeout, and could fill every place in that time. Its further deliveries go to the slow lane.
 */
const maxOfOneKey = 8;

/** The attempts under way in this process's fast lane, by key. */
const underWay = new Map<string, number>();

/**
 * Takes a place in the lane of a pool. Resolves with what leaves it again; with null for a key that belongs in the slow lane
 * instead, since it is slow or has too many attempts under way.
 */
export async function enterLane(
  ctx: Pick<Context, 'redis' | 'now'>,
  keyId: string,
  pool: PoolName,
): Promise<(() => void) | null> {
  if (pool === 'webhooks-slow') return () => {};
  if (await isSlow(ctx, keyId)) return null;
  const taken = underWay.get(keyId) ?? 0;
  if (taken >= maxOfOneKey) return null;
  underWay.set(keyId, taken + 1);
  return () => {
    const left = (underWay.get(keyId) ?? 1) - 1;
    if (left > 0) underWay.set(keyId, left);
    else underWay.delete(keyId);
  };
}

/** Marks a key whose receiver let an attempt time out. May be lost: it only decides in which queue its events wait. */
export async function markSlow(ctx: Pick<Context, 'redis' | 'log' | 'now'>, keyId: string): Promise<void> {
  try {
    await ctx.redis.zadd(slowKeys, ctx.now() + markMs, keyId);
    await ctx.redis.zremrangebyscore(slowKeys, 0, ctx.now());
  } catch (error) {
    ctx.log.debug({ keyId, error: describeError(error) }, 'slow key not marked');
  }
}

/** Whether a key is marked as slow. While Redis is unavailable, no key is. */
export async function isSlow(ctx: Pick<Context, 'redis' | 'now'>, keyId: string): Promise<boolean> {
  try {
    return (await markExpiry(ctx.redis)(keyId)) > ctx.now();
  } catch {
    return false;
  }
}

const readers = new WeakMap<RedisClient, (keyId: string) => Promise<number>>();

/** Reads when a key's mark expires, 0 for none. Concurrent reads share one command. */
function markExpiry(redis: RedisClient): (keyId: string) => Promise<number> {
  const known = readers.get(redis);
  if (known) return known;
  const read = batch<string, number>(async (keyIds) => (await redis.zmscore(slowKeys, ...keyIds)).map(Number));
  readers.set(redis, read);
  return read;
}
