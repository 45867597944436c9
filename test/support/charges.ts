import type { Context } from '../../shared/base/context.ts';

type Redis = Pick<Context, 'redis'>;

/** The Redis key of the sorted set with the creations of an API key in the last hour, which its rate limits count. */
export const creationLog = (keyId: string): string => `rides:created:${keyId}`;

/** The number of creations that are charged to a key. */
export const chargesOf = ({ redis }: Redis, keyId: string): Promise<number> => redis.zcard(creationLog(keyId));

/** Resets the rate limit of a key. */
export const forgetCharges = ({ redis }: Redis, keyId: string): Promise<unknown> => redis.del(creationLog(keyId));

/** Charges `count` creations to a key, one per ms, the oldest `agoSeconds` ago. */
export async function addCharges({ redis }: Redis, keyId: string, count: number, agoSeconds = 30): Promise<void> {
  const first = Date.now() - agoSeconds * 1_000;
  const entries = Array.from({ length: count }, (_, index) => [first + index, `${agoSeconds}-${index}`]).flat();
  await redis.zadd(creationLog(keyId), ...(entries as [number, string]));
}
