import type { Config } from '../base/config.ts';
import type { Context } from '../base/context.ts';
import { createLogger, type Logger } from '../base/logger.ts';
import { followMongoClock } from '../base/mongo/clock.ts';
import { connectMongo, disconnectMongo } from '../base/mongo/connect-mongo.ts';
import { createQueues, poolNames } from '../base/queues.ts';
import { connectRedis, redisReady } from '../base/redis/redis.ts';
import type { Tracing } from '../base/tracing.ts';
import { assertMigrated } from './migrate-database.ts';

/**
 * Connects a process to MongoDB, which it requires, and to Redis, which may be unreachable: waits for Redis at most
 * `redisWaitMs`. Warns of unknown settings that resemble known ones. Throws ConfigError when MongoDB does not answer,
 * `migrate` has not run, or SECRETS_KEY does not decrypt the stored secrets.
 */
export async function openContext(
  config: Readonly<Config>,
  processName: string,
  { redisWaitMs = 2_000 } = {},
): Promise<Context> {
  const log = createLogger(config.logLevel, processName);
  for (const { name, known } of config.unknownSettings) {
    log.warn({ setting: name, known }, 'unknown setting: a known one has a similar name');
  }
  await connectMongo(config.secrets.mongoUrl);
  try {
    await assertMigrated(config.secrets.keys);
  } catch (error) {
    // A command ends by itself once nothing is open.
    await disconnectMongo();
    throw error;
  }
  const redis = connectRedis(config.secrets.redisUrl, log);
  await redisReady(redis, redisWaitMs);
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

/** Without OTEL_EXPORTER_OTLP_ENDPOINT, traces are off and OpenTelemetry is not loaded. */
async function startTracing(
  { traces }: Pick<Config, 'traces'>,
  processName: string,
  log: Logger,
): Promise<Tracing | undefined> {
  if (!traces) return undefined;
  const { openTelemetry } = await import('../base/open-telemetry.ts');
  return openTelemetry(traces, processName, log);
}
