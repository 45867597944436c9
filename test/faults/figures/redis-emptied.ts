import { setTimeout } from 'node:timers/promises';
import type { Evidence } from '../check/checker.ts';
import { latestAfter, workOfAll } from '../check/lateness.ts';
import type { Figure } from '../figure.ts';
import { between } from '../random.ts';
import { emptyRedis } from '../rounds/faults.ts';
import { runUnderFaults, summaryOf } from '../rounds/run-rounds.ts';

const doneWithinMs = 10_000;

/** Runs FLUSHALL while timers are pending and attempts are in flight. */
export const redisEmptied: Figure = {
  name: 'redis-emptied',
  promise: 'All due work is done after Redis is emptied',
  goal: 'all due work done within 10 s',
  async measure(run) {
    const times = run.short ? 2 : 12;
    const latestIn = (evidence: Evidence) => latestAfter(evidence.faults, workOfAll(evidence), doneWithinMs);
    const { evidence, violations } = await runUnderFaults({
      run,
      world: { wired: false },
      async faults(arena) {
        for (let time = 1; time <= times; time++) {
          await emptyRedis(arena);
          arena.say(`emptied ${time} of ${times} times`);
          await setTimeout(between(arena.random, 4_000, 12_000));
        }
      },
      check(evidence) {
        const { ms, what } = latestIn(evidence);
        return ms > doneWithinMs ? [`work was done only after ${ms} ms: ${what}`] : [];
      },
    });
    const latestMs = latestIn(evidence).ms;
    const reached = `emptied ${times} times; the latest work was done after ${(latestMs / 1_000).toFixed(1)} s`;
    return { reached: `${reached}; ${summaryOf(evidence)}`, violations };
  },
};
