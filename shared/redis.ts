import { Redis } from 'ioredis';
import { describeError } from './errors.ts';
import type { Logger } from './logger.ts';

const reconnecting = {
  connectTimeout: 2_000,
  retryStrategy: (times: number): number => Math.min(times * 100, 500),
  // While Redis loads its data file, ask again after 250 ms; by default ioredis may wait 10 s.
  maxLoadingRetryTime: 250,
};

const readOnlyPauseMs = 1_000;

/**
 * After a failover this connection may still lead to the old primary, now a replica; a new connection finds the new
 * one.
 */
const isReadOnly = (error: Error): boolean => error.message.includes('READONLY');

/**
 * Reconnects on READONLY, at most once a second, because each reconnection makes the sweeper search for lost jobs. The
 * caller gets the error.
 */
function reconnectFromReplica(): (error: Error) => boolean {
  let reconnectedAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (!isReadOnly(error) || performance.now() - reconnectedAt < readOnlyPauseMs) return false;
    reconnectedAt = performance.now();
    return true;
  };
}

/**
 * Opens the connection for commands: adding jobs, the rate limit, marks of slow keys. A command fails at once while
 * Redis is away and is not repeated when its answer is lost: every caller works without Redis.
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
 * Opens the connection on which BullMQ's workers take jobs. It waits for Redis without a limit. A command that a
 * replica refused is sent again on the next connection, because BullMQ would wait 15 s after the error.
 */
export function connectWorkerRedis(url: string, log: Logger): Redis {
  const reconnectOnError = (error: Error) => isReadOnly(error) && 2;
  return reported(new Redis(url, { maxRetriesPerRequest: null, reconnectOnError, ...reconnecting }), log);
}

/** The connection that hears of changes: it subscribes again by itself whenever Redis is back. */
export function connectSubscriberRedis(url: string, log: Logger): Redis {
  return reported(new Redis(url, { maxRetriesPerRequest: null, ...reconnecting }), log);
}

/** Resolves when the connection is ready, or after timeoutMs: a process starts without Redis, too. */
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

/** Logs two lines for an outage, not one for each attempt to reconnect. */
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
