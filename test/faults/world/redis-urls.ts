import type { RedisGroup } from '../../support/redis-group.ts';

export interface RedisServers {
  redis: { url: string };
  redisGroup?: Pick<RedisGroup, 'primaries'>;
}

/** The URLs of the Redis servers that currently hold the data. */
export async function redisUrlsOf({ redis, redisGroup }: RedisServers): Promise<string[]> {
  return redisGroup ? (await redisGroup.primaries()).map(({ url }) => url) : [redis.url];
}
