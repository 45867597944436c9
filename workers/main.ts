import { readConfig } from '../shared/base/config.ts';
import { poolTakesJobs } from '../shared/base/metrics.ts';
import { spaceBatches } from '../shared/base/mongo/batch.ts';
import { pingMongo } from '../shared/base/mongo/connect-mongo.ts';
import { type PoolName, poolNames } from '../shared/base/queues.ts';
import { connectWorkerRedis } from '../shared/base/redis/redis.ts';
import { assertRedisWorks } from '../shared/base/redis/redis-state.ts';
import { version } from '../shared/base/version.ts';
import { UsageError } from '../shared/process/command-line.ts';
import { openContext } from '../shared/process/open-context.ts';
import { startOpsServer } from '../shared/process/ops/ops-server.ts';
import { startWarnings } from '../shared/process/ops/start-warnings.ts';
import { shutdownOnSignal } from '../shared/process/shutdown.ts';
import { start } from '../shared/process/start.ts';
import { driverRatings } from './periodic/driver-ratings.ts';
import { fareCounts } from './periodic/fares.ts';
import { startFreeDrivers } from './periodic/free-drivers.ts';
import { startOpener } from './periodic/opener.ts';
import { outageMails } from './periodic/outage-mails.ts';
import { retention } from './periodic/retention/retention.ts';
import { startSweeper } from './periodic/sweeper/sweeper.ts';
import { startPacedWork } from './periodic/turns.ts';
import { usageSums } from './periodic/usage/sum-usage.ts';
import { assertNoPoolHangs, createHeartbeat, type Heartbeat, startPool } from './pools.ts';
import { withinDescriptorLimit } from './webhooks/descriptor-limit.ts';
import { measureOutcomes } from './webhooks/report/account-outcomes.ts';
import { flushAttempts } from './webhooks/report/attempt-log.ts';
import { flushHealth } from './webhooks/report/health-log.ts';

const usage = `Usage: npm run worker -- [POOL...]
       node dist/workers/main.js [POOL...]

Runs the jobs of the named pools, or of all pools:${poolNames.join(' ').replaceAll(/(.{1,58})(?: |$)/g, '\n  $1')}

The settings come from the environment: MONGO_URL, REDIS_URL
and PUBLIC_BASE_URL are required, SECRETS_KEY for the
webhooks pools, mail and messages, SMTP_URL and MAIL_FROM
for mail, SMS_URL and SMS_FROM for messages.
docs/settings.md lists all settings.

Examples
  npm run worker -- bidding simulator
  LOG_LEVEL=debug node dist/workers/main.js webhooks`;

/**
 * From 200 steps or deliveries a second (40 rides), a ride then costs about a quarter less CPU in all
 * (test/bench/README.md), and a job waits up to this long.
 */
const batchSpacingMs = 20;
const spacedFromPerSecond = 200;

/** The entry point of a worker process: runs the pools named on the command line, or all of them. */
start('worker', runPools, usage);

/** Starts the pools and the periodic work. Throws UsageError for an unknown pool name. */
async function runPools(names: readonly string[]): Promise<void> {
  const pools = names.length > 0 ? names.map(poolNamed) : poolNames;
  const readsSecrets = pools.some((pool) => /^(webhooks|mail|messages)/.test(pool));
  const config = readConfig(undefined, { without: readsSecrets ? [] : ['SECRETS_KEY'] });
  const ctx = await openContext(config, pools.join('+'));
  spaceBatches(batchSpacingMs, spacedFromPerSecond);
  const connection = connectWorkerRedis(config.secrets.redisUrl, ctx.log);
  const concurrency = withinDescriptorLimit(pools, config.concurrency, ctx.log);
  const heartbeats: Record<string, Heartbeat> = Object.fromEntries(pools.map((pool) => [pool, createHeartbeat()]));
  const works = [usageSums, fareCounts, driverRatings, retention, ...(readsSecrets ? [outageMails] : [])];
  const workers = pools.map((pool) => startPool(ctx, connection, pool, concurrency[pool], heartbeats[pool]));
  const periodic = [
    startSweeper(ctx),
    startOpener(ctx),
    startFreeDrivers(ctx),
    ...works.map((work) => startPacedWork(ctx, work)),
  ];
  const watch = startWarnings(ctx);
  const ops = await startOpsServer(ctx, {
    processName: pools.join('+'),
    checks: {
      mongo: pingMongo,
      redis: () => assertRedisWorks(ctx.redis),
      pools: () => assertNoPoolHangs(heartbeats),
    },
    beforeScrape: () => {
      for (const [pool, { isBeating }] of Object.entries(heartbeats)) poolTakesJobs.set({ pool }, isBeating ? 1 : 0);
      measureOutcomes();
    },
  });
  ctx.log.info({ version, pools }, 'working');
  shutdownOnSignal(ctx.log, config.shutdownGraceMs, async () => {
    await Promise.all([...periodic.map((work) => work.stop()), ...workers.map((worker) => worker.close())]);
    await Promise.all([flushAttempts(), flushHealth()]);
    watch.stop();
    await ops?.close();
    connection.disconnect();
    await ctx.close();
  });
}

function poolNamed(name: string): PoolName {
  const pool = poolNames.find((candidate) => candidate === name);
  if (!pool) throw new UsageError(`unknown worker pool ${name}`);
  return pool;
}
