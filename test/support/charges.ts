import type { Context } from '../../shared/base/context.ts';

type Redis = Pick<Context, 'redis'>;

/** The sorted set in Redis of a key's creations within an hour, which its limits count. */
export const creationLog = (keyId: string): string => `rides:created:${keyId}`;

/** How many creations are charged to a key. */
export const chargesOf = ({ redis }: Redis, keyId: string): Promise<number> => redis.zcard(creationLog(keyId));

/** Gives a key its whole limit again. */
export const forgetCharges = ({ redis }: Redis, keyId: string): Promise<unknown> => redis.del(creationLog(keyId));
