import type { Config } from './config.ts';
import { createLogger, type Logger } from './logger.ts';
import { assertMigrated } from './migrate.ts';
import { followMongoClock } from './mongo/clock.ts';
import { connectMongo, disconnectMongo } from './mongo/connection.ts';
import { createQueues, poolNames, type Queues } from './queues.ts';
import { connectRedis, type RedisClient, redisReady } from './redis.ts';
import { startTracing, type Tracing } from './tracing/tracing.ts';

/** What every part of a process gets. It stays a handful of fields: it is no container. */
export interface Context {
  config: Readonly<Config>;
  log: Logger;
  redis: RedisClient;
  queues: Queues;
  /** Only where the settings name a collector of traces. */
  tracing?: Tracing;
  /** The time on MongoDB's clock, in Unix ms, as this process estimates it. */
  now(): number;
  /** See `MongoClock`: for ends of claims, which a step of the clock must not bring forward. */
  nowBeforeSteps(withinMs: number): number;
  close(): Promise<void>;
}

/**
 * Connects a process to MongoDB, which it requires, and to Redis, which may be away. Throws ConfigError when MongoDB
 * does not answer, `migrate` has not run, or SECRETS_KEY does not decrypt the stored secrets.
 */
export async function createContext(config: Readonly<Config>, processName: string): Promise<Context> {
  const log = createLogger(config.logLevel, processName);
  await connectMongo(config.secrets.mongoUrl);
  await assertMigrated(config.secrets.keys);
  const redis = connectRedis(config.secrets.redisUrl, log);
  await redisReady(redis, 2_000);
  const tracing = await startTracing(config, processName, log);
  const queues = createQueues(redis, log, tracing);
  const clock = await followMongoClock();
  return {
    config,
    log,
    redis,
    queues,
    tracing,
    now: clock.now,
    nowBeforeSteps: clock.nowBeforeSteps,
    async close() {
      clock.stop();
      await Promise.allSettled(poolNames.map((pool) => queues[pool].close()));
      redis.disconnect();
      await Promise.all([disconnectMongo(), tracing?.stop()]);
    },
  };
}
