import type { Figure } from '../figure.ts';
import { emptyRedis } from '../rounds/faults.ts';
import { measureRedisFaults } from './redis-faults.ts';

/** Runs FLUSHALL while timers are pending and attempts are in flight. */
export const redisEmptied: Figure = {
  name: 'redis-emptied',
  goal: 'all due work done within 10 s',
  async measure(run) {
    const count = run.short ? 2 : 12;
    const { reached, violations } = await measureRedisFaults({
      run,
      count,
      resumedWithinMs: 10_000,
      pauseMs: 8_000,
      fault: emptyRedis,
    });
    return { reached: `emptied ${count} times; ${reached}`, violations };
  },
};
