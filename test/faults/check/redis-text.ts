import { Redis } from 'ioredis';

/** All keys and values in Redis as one text, to search for secrets. */
export async function redisText(url: string): Promise<string> {
  const redis = new Redis(url);
  const texts: string[] = [];
  try {
    for await (const names of redis.scanStream({ count: 1_000 })) {
      for (const name of names as string[]) texts.push(name, await valueText(redis, name));
    }
  } finally {
    redis.disconnect();
  }
  return texts.join('\n');
}

async function valueText(redis: Redis, name: string): Promise<string> {
  switch (await redis.type(name)) {
    case 'string':
      return (await redis.get(name)) ?? '';
    case 'hash':
      return JSON.stringify(await redis.hgetall(name));
    case 'zset':
      return (await redis.zrange(name, '0', '-1')).join();
    case 'list':
      return (await redis.lrange(name, 0, -1)).join();
    case 'set':
      return (await redis.smembers(name)).join();
    case 'stream':
      return JSON.stringify(await await redis.xrange(name, '-', '+'));
    default:
      return '';
  }
}
