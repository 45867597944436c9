import type { World } from './world.ts';

/** The servers that hold Redis's data now. */
export async function redisUrlsOf({ redis, redisGroup }: Pick<World, 'redis' | 'redisGroup'>): Promise<string[]> {
  return redisGroup ? (await redisGroup.primaries()).map(({ url }) => url) : [redis.url];
}
