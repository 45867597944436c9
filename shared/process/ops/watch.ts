import type { Redis } from 'ioredis';
import type { Context } from '../../base/context.ts';
import { describeError } from '../../base/errors.ts';
import { warnings } from '../../base/metrics.ts';
import { clocksDiffer } from '../../base/mongo/clock.ts';
import { primariesOf } from '../../base/redis/redis-nodes.ts';
import { missingIndexes } from '../migrate.ts';
import { readBacklog } from './backlog.ts';

const everyMs = 60_000;
/** An event or a timer that has waited less than this is no backlog. */
const backlogSeconds = 60;

const texts = {
  redis_evicts: 'Redis may evict jobs: set maxmemory-policy to noeviction',
  redis_not_persistent:
    'Redis keeps no append-only file: a restart loses its jobs, and the sweeper has to add them again',
  index_missing: 'MongoDB lacks an index: run migrate',
  clocks_differ:
    "MongoDB's clock and this process's differ by more than a minute: it delivers no events until they agree",
  backlog_grows: 'events or timers wait, and longer than a minute ago',
} as const;
type Warning = keyof typeof texts;

/**
 * Looks once a minute for what is wrong but takes nothing out of service: a warning in the log when it begins, and a metric. In
 * development Redis's settings are the stack's own.
 */
export function startWatch(ctx: Pick<Context, 'config' | 'log' | 'redis' | 'now'>): { stop(): void } {
  const known = new Set<string>();
  let before = Number.POSITIVE_INFINITY;
  let isLooking = false;

  const note = (warning: Warning, isWrong: boolean, details: object = {}) => {
    warnings.set({ warning }, isWrong ? 1 : 0);
    if (isWrong && !known.has(warning)) ctx.log.warn({ warning, ...details }, texts[warning]);
    if (isWrong) known.add(warning);
    else known.delete(warning);
  };
  const looks = [
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

  async function look(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    for (const one of looks) {
      await one().catch((error) => ctx.log.debug({ error: describeError(error) }, 'not looked for warnings'));
    }
    isLooking = false;
  }

  const timer = setInterval(look, everyMs).unref();
  void look();
  return { stop: () => clearInterval(timer) };
}

/** From INFO, which a hosted Redis allows where it forbids CONFIG. */
export async function redisSettings(redis: Pick<Redis, 'info'>) {
  const [memory, persistence] = await Promise.all([redis.info('memory'), redis.info('persistence')]);
  const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1];
  return { evicts: policy !== undefined && policy !== 'noeviction', isPersistent: /^aof_enabled:1/m.test(persistence) };
}
