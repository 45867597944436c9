import type { Context } from '../context.ts';
import { describeError } from '../errors.ts';

/** So long a key's deliveries stay in the slow lane after one of them timed out. */
const markSeconds = 60;
const markOf = (keyId: string): string => `rides:slow:${keyId}`;

/** Marks a key whose receiver let an attempt time out. Lossy: it only decides in which queue its events wait. */
export async function markSlow(ctx: Pick<Context, 'redis' | 'log'>, keyId: string): Promise<void> {
  try {
    await ctx.redis.set(markOf(keyId), '1', 'EX', markSeconds);
  } catch (error) {
    ctx.log.debug({ keyId, error: describeError(error) }, 'slow key not marked');
  }
}

/** Whether a key is marked as slow; while Redis is away, none is. */
export async function isSlow(ctx: Pick<Context, 'redis'>, keyId: string): Promise<boolean> {
  try {
    return (await ctx.redis.exists(markOf(keyId))) === 1;
  } catch {
    return false;
  }
}
