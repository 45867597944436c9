import type { Figure } from '../figure.ts';
import { between } from '../random.ts';
import { takeAway } from '../rounds/arena.ts';
import { measureRedisFaults } from './redis-faults.ts';

const longMs = 60_000;

/** Stops, kills or pauses Redis repeatedly under load. */
export const redisOutages: Figure = {
  name: 'redis-outages',
  goal: 'create answers 201; all resumes within 3 s of its return; 0 hung workers in 50 outages, three of them of 60 s',
  async measure(run) {
    const count = run.short ? 4 : 50;
    const { reached, violations } = await measureRedisFaults({
      run,
      count,
      resumedWithinMs: 3_000,
      pauseMs: 3_000,
      fault(arena, number) {
        const isLong = !run.short && number % 16 === 0;
        const ms = isLong ? longMs : between(arena.random, 1_000, run.short ? 3_000 : 10_000);
        const how = (['stopped', 'killed', 'hung'] as const)[number % 3] ?? 'stopped';
        run.say(`outage ${number}: Redis ${how} for ${(ms / 1_000).toFixed(1)} s`);
        return takeAway(arena, 'redis', how, ms);
      },
    });
    return { reached: `${count} outages; ${reached}`, violations };
  },
};
