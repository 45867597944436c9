import { setTimeout } from 'node:timers/promises';
import { poolNames } from '../../../shared/base/queues.ts';
import type { Evidence } from '../check/checker.ts';
import { repeatsAmong } from '../check/deliveries.ts';
import type { Figure } from '../figure.ts';
import { shuffled } from '../random.ts';
import { restartInTurn, scale } from '../rounds/restarts.ts';
import { runUnderFaults, summaryOf } from '../rounds/run-rounds.ts';

/**
 * Restarts every process in turn and scales every pool, repeatedly, under load. Restarts count as no fault and excuse
 * nothing.
 */
export const rollingRestarts: Figure = {
  name: 'rolling-restarts',
  goal: 'nothing lost, nothing repeated, no 5xx, no stalled job, every request answered; every process ends with code 0 within 10 s',
  async measure(run) {
    const turns = run.short ? 1 : 3;
    const eachMs = run.short ? 1_500 : 6_000;
    const endsMs: number[] = [];
    const { evidence, violations } = await runUnderFaults({
      run,
      async faults(arena) {
        for (let turn = 1; turn <= turns; turn++) {
          run.say(`every process restarted in turn, ${turn} of ${turns}`);
          endsMs.push(...(await restartInTurn(arena)));
          for (const pool of shuffled(arena.random, poolNames)) {
            endsMs.push(...(await scale(arena, pool, eachMs)));
            await setTimeout(500);
          }
        }
      },
      check(evidence) {
        const repeats = repeatsAmong(evidence.receipts);
        return [...(repeats > 0 ? [`${repeats} attempts were repeated`] : []), ...cutOff(evidence)];
      },
    });
    const reached =
      `${turns} times all processes restarted and each of ${poolNames.length} pools scaled from 1 to 4 to 1: ${endsMs.length} ` +
      `processes ended, the slowest after ${(Math.max(...endsMs) / 1_000).toFixed(1)} s; ${summaryOf(evidence)}`;
    return { reached, violations };
  },
};

/** Processes that still had work when their grace period ended, and jobs that BullMQ gave to another worker. */
const cutOff = ({ texts }: Evidence): string[] =>
  texts.flatMap(({ where, text }) => [
    ...(text.includes('grace period over') ? [`${where}: ended with work in flight`] : []),
    ...(text.includes('job stalled') ? [`${where}: a job stalled`] : []),
  ]);
