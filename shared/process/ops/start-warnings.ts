import type { Redis } from 'ioredis';
import type { Context } from '../../base/context.ts';
import { describeError } from '../../base/errors.ts';
import { warnings } from '../../base/metrics.ts';
import { clocksDiffer } from '../../base/mongo/clock.ts';
import { primariesOf } from '../../base/redis/redis-nodes.ts';
import { readRedisState } from '../../base/redis/redis-state.ts';
import { redisProblemTexts } from '../../base/redis-problem.ts';
import { missingIndexes } from '../migrate-database.ts';
import { readBacklog } from './backlog.ts';

const checkIntervalMs = 60_000;
/** Events and timers that have waited less than this do not count as a backlog. */
const backlogSeconds = 60;

/** The problems in which Redis answers, but accepts no jobs. A Redis that does not answer has its own metric and log. */
const { redis_away: _, ...redisTexts } = redisProblemTexts;
const redisWarnings = Object.keys(redisTexts) as (keyof typeof redisTexts)[];

const texts = {
  ...redisTexts,
  redis_evicts: 'Redis may evict jobs: set maxmemory-policy to noeviction',
  redis_not_persistent: 'Redis writes no append-only file: a restart loses its jobs until the sweeper adds them again',
  index_missing: 'MongoDB lacks an index: run migrate',
  clocks_differ:
    "this host's clock differs from MongoDB's by more than a minute: this process delivers no events until they agree",
  backlog_grows: 'the backlog grows: the oldest event or timer waits longer than at the last check',
} as const;
type Warning = keyof typeof texts;

/**
 * Checks once a minute for problems that do not make the process unready. Sets a metric for each problem, and logs a
 * warning when it begins. Redis's settings are not checked in development, where the stack sets them itself.
 */
export function startWarnings(ctx: Pick<Context, 'config' | 'log' | 'redis' | 'now'>): { stop(): void } {
  const known = new Set<string>();
  let before = Number.POSITIVE_INFINITY;
  let isChecking = false;

  const note = (warning: Warning, isWrong: boolean, details: object = {}) => {
    warnings.set({ warning }, isWrong ? 1 : 0);
    if (isWrong && !known.has(warning)) ctx.log.warn({ warning, ...details }, texts[warning]);
    if (isWrong) known.add(warning);
    else known.delete(warning);
  };
  const checks = [
    async () => {
      const { problem } = await readRedisState(ctx.redis);
      for (const warning of redisWarnings) note(warning, warning === problem);
    },
    async () => {
      if (ctx.config.environment !== 'production') return;
      const primaries = primariesOf(ctx.redis);
      if (primaries.length === 0) throw new Error('no primary of Redis is connected');
      const settings = await Promise.all(primaries.map(redisSettings));
      note(
        'redis_evicts',
        settings.some(({ evicts }) => evicts),
      );
      note(
        'redis_not_persistent',
        settings.some(({ isPersistent }) => !isPersistent),
      );
    },
    async () => {
      const [missing] = await missingIndexes();
      note('index_missing', missing !== undefined, { index: missing });
    },
    async () => {
      const aheadMs = ctx.now() - Date.now();
      note('clocks_differ', clocksDiffer(ctx.now()), { aheadMs });
    },
    async () => {
      const { unsettledEvent, overdueTimer } = await readBacklog();
      const oldest = Math.max(unsettledEvent, overdueTimer);
      note('backlog_grows', oldest > backlogSeconds && oldest > before, { unsettledEvent, overdueTimer });
      before = oldest;
    },
  ];

  async function runChecks(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    for (const check of checks) {
      await check().catch((error) => ctx.log.debug({ error: describeError(error) }, 'a check for warnings failed'));
    }
    isChecking = false;
  }

  const timer = setInterval(runChecks, checkIntervalMs).unref();
  void runChecks();
  return { stop: () => clearInterval(timer) };
}

/** Reads INFO, because a hosted Redis may forbid CONFIG. */
export async function redisSettings(redis: Pick<Redis, 'info'>) {
  const [memory, persistence] = await Promise.all([redis.info('memory'), redis.info('persistence')]);
  const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1];
  return {
    evicts: policy !== undefined && policy !== 'noeviction',
    // While Redis loads its append-only file, it reports `aof_enabled:0`.
    isPersistent: /^(aof_enabled|loading):1/m.test(persistence),
  };
}
