import type { Redis } from 'ioredis';
import { batch } from '../../shared/batch.ts';
import type { Context } from '../../shared/context.ts';
import { describeError } from '../../shared/errors.ts';

/** So long a key's deliveries stay in the slow lane after one of them timed out. */
const markMs = 60_000;

/** A sorted set of keys, each with when its mark lapses (Unix ms, MongoDB's clock). */
const marks = 'rides:slow';

/** Marks a key whose receiver let an attempt time out. Lossy: it only decides in which queue its events wait. */
export async function markSlow(ctx: Pick<Context, 'redis' | 'log' | 'now'>, keyId: string): Promise<void> {
  try {
    await ctx.redis.zadd(marks, ctx.now() + markMs, keyId);
    await ctx.redis.zremrangebyscore(marks, 0, ctx.now());
  } catch (error) {
    ctx.log.debug({ keyId, error: describeError(error) }, 'slow key not marked');
  }
}

/** Whether a key is marked as slow; while Redis is away, none is. */
export async function isSlow(ctx: Pick<Context, 'redis' | 'now'>, keyId: string): Promise<boolean> {
  try {
    return (await lapseOf(ctx.redis)(keyId)) > ctx.now();
  } catch {
    return false;
  }
}

const lapses = new WeakMap<Redis, (keyId: string) => Promise<number>>();

/** Reads when a key's mark lapses, 0 for none; of all keys that are asked for at the same time in one command. */
function lapseOf(redis: Redis): (keyId: string) => Promise<number> {
  const known = lapses.get(redis);
  if (known) return known;
  const read = batch<string, number>(async (keyIds) => (await redis.zmscore(marks, ...keyIds)).map(Number));
  lapses.set(redis, read);
  return read;
}
