import { UsageError } from '../shared/cli/command-line.ts';
import { readConfig } from '../shared/config.ts';
import { createContext } from '../shared/context.ts';
import { type PoolName, poolNames } from '../shared/queues.ts';
import { connectWorkerRedis } from '../shared/redis.ts';
import { shutdownOnSignal } from '../shared/shutdown.ts';
import { start } from '../shared/start.ts';
import { startFareDays } from './fares/fare-turns.ts';
import { startPool } from './pools.ts';
import { startSweeper } from './sweeper/sweeper.ts';
import { startUsageSums } from './usage/usage-sums.ts';
import { flushAttempts } from './webhooks/attempt-log.ts';
import { withinDescriptorLimit } from './webhooks/descriptor-limit.ts';
import { flushHealth } from './webhooks/health-log.ts';

const usage = `Usage: npm run worker -- [POOL...]
       node dist/workers/main.js [POOL...]

Works off the queues of the named pools, or of all:
  ${poolNames.join(' ')}

Its settings come from the environment: MONGO_URL, REDIS_URL
and PUBLIC_BASE_URL are required, SECRETS_KEY for the
webhooks pools and mail, SMTP_URL and MAIL_FROM for mail.
The README's table "Settings" has them all.

Examples
  npm run worker -- bidding simulator
  LOG_LEVEL=debug node dist/workers/main.js webhooks`;

/** A worker process: runs the pools named on the command line, or all of them. */
start('worker', runPools, usage);

/** Starts the pools, the sweeper, the sums of usage and of fares. Throws UsageError for an unknown name. */
async function runPools(names: readonly string[]): Promise<void> {
  const pools = names.length > 0 ? names.map(poolNamed) : poolNames;
  const readsSecrets = pools.some((pool) => pool.startsWith('webhooks') || pool === 'mail');
  const config = readConfig(undefined, { without: readsSecrets ? [] : ['SECRETS_KEY'] });
  const ctx = await createContext(config, pools.join('+'));
  const connection = connectWorkerRedis(config.secrets.redisUrl, ctx.log);
  const concurrency = withinDescriptorLimit(pools, config.concurrency, ctx.log);
  const workers = pools.map((pool) => startPool(ctx, connection, pool, concurrency[pool]));
  const sweeper = startSweeper(ctx);
  const usageSums = startUsageSums(ctx);
  const fareDays = startFareDays(ctx);
  ctx.log.info({ pools }, 'working');
  shutdownOnSignal(ctx.log, config.shutdownGraceMs, async () => {
    await Promise.all([sweeper.stop(), usageSums.stop(), fareDays.stop(), ...workers.map((worker) => worker.close())]);
    await Promise.all([flushAttempts(), flushHealth()]);
    connection.disconnect();
    await ctx.close();
  });
}

function poolNamed(name: string): PoolName {
  const pool = poolNames.find((candidate) => candidate === name);
  if (!pool) throw new UsageError(`there is no worker pool ${name}`);
  return pool;
}
