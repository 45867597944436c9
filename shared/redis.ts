import { Redis } from 'ioredis';
import { describeError } from './errors.ts';
import type { Logger } from './logger.ts';

const reconnecting = {
  connectTimeout: 2_000,
  retryStrategy: (times: number): number => Math.min(times * 100, 500),
  // A Redis that still reads its file is asked again so soon; ioredis by itself may wait 10 s.
  maxLoadingRetryTime: 250,
};

const readOnlyPauseMs = 1_000;

/** After a failover the server may be a replica that keeps its connections, and the address lead to the new primary. */
const isReadOnly = (error: Error): boolean => error.message.includes('READONLY');

/** Reconnects once a second, and gives the caller its error: at each reconnection the sweeper looks for lost jobs. */
function reconnectFromReplica(): (error: Error) => boolean {
  let reconnectedAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (!isReadOnly(error) || performance.now() - reconnectedAt < readOnlyPauseMs) return false;
    reconnectedAt = performance.now();
    return true;
  };
}

/**
 * The connection for commands: the queues' adds, the rate limit, marks. It fails at once while Redis is away, and never
 * repeats a command whose answer was lost: whoever calls has a way on without Redis.
 */
export function connectRedis(url: string, log: Logger): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 1_000,
    reconnectOnError: reconnectFromReplica(),
    ...reconnecting,
  });
  return reported(redis, log);
}

/**
 * The connection that BullMQ's workers take jobs over: it waits for Redis for as long as it takes. What a replica refused
 * it has not done: it is sent again over the next connection, since BullMQ would wait 15 s after such an error.
 */
export function connectWorkerRedis(url: string, log: Logger): Redis {
  const reconnectOnError = (error: Error) => isReadOnly(error) && 2;
  return reported(new Redis(url, { maxRetriesPerRequest: null, reconnectOnError, ...reconnecting }), log);
}

/** Resolves as soon as the connection serves, and at the latest after timeoutMs: nothing here needs Redis to start. */
export function redisReady(redis: Redis, timeoutMs: number): Promise<void> {
  if (redis.status === 'ready') return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      redis.off('ready', done);
      resolve();
    };
    const timer = setTimeout(done, timeoutMs);
    redis.once('ready', done);
  });
}

/** An outage is two log lines, not one for every attempt to reconnect. */
function reported(redis: Redis, log: Logger): Redis {
  let away = false;
  redis.on('error', (error) => {
    if (!away) log.warn({ error: describeError(error) }, 'redis is away');
    away = true;
  });
  redis.on('ready', () => {
    if (away) log.info('redis is back');
    away = false;
  });
  return redis;
}
