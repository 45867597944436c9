/** The servers of MONGO_URL and REDIS_URL, which replace the stack's own; empty if unset. */
export function givenServers() {
  const { MONGO_URL = '', REDIS_URL = '' } = process.env;
  return {
    mongo: MONGO_URL,
    redis: REDIS_URL,
    /** The same for display, without user and password. */
    named: {
      mongo: MONGO_URL && `${hostsOf(MONGO_URL)} (MONGO_URL)`,
      redis: REDIS_URL && `${hostsOf(REDIS_URL)} (REDIS_URL)`,
    },
  };
}

/**
 * Throws if no Redis answers at REDIS_URL. Otherwise the services would start and wait for it. A cluster and sentinels are
 * not asked.
 */
export async function checkRedis(): Promise<void> {
  const url = givenServers().redis;
  if (!/^rediss?:/.test(url)) return;
  const { Redis } = await import('ioredis');
  const redis = new Redis(url, { lazyConnect: true, connectTimeout: 2_000, retryStrategy: () => null });
  let problem: NodeJS.ErrnoException | undefined;
  redis.on('error', (error) => {
    problem = error;
  });
  try {
    await redis.connect();
    await redis.ping();
  } catch (error) {
    const { code, message } = problem ?? (error as NodeJS.ErrnoException);
    throw new Error(`REDIS_URL: no Redis answers at ${hostsOf(url)} (${code ?? message})`, { cause: error });
  } finally {
    redis.disconnect();
  }
}

/** The hosts of a URL, without its user and password. */
export const hostsOf = (url: string): string =>
  url
    .replace(/[?].*$/, '')
    .replace(/^[\w+-]+:\/\/(.*@)?/, '')
    .split('/')[0] ?? '';
