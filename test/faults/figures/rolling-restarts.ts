import { setTimeout } from 'node:timers/promises';
import { poolNames } from '../../../shared/base/queues.ts';
import type { Evidence } from '../check/checker.ts';
import { repeatsAmong } from '../check/deliveries.ts';
import type { Figure } from '../figure.ts';
import { shuffled } from '../random.ts';
import { restartInTurn, scale } from '../rounds/restarts.ts';
import { summaryOf, undergo } from '../rounds/run-rounds.ts';

/** Every process restarted in turn, then every pool scaled, again and again, under load. Nothing of it is a fault. */
export const rollingRestarts: Figure = {
  name: 'rolling-restarts',
  promise: 'rolling restarts of everything, and pools scaled from 1 to 4 to 1, under load',
  goal: 'nothing lost, nothing repeated, no 5xx, every request answered; every process ends with code 0 within 10 s',
  async measure(run) {
    const turns = run.short ? 1 : 3;
    const eachMs = run.short ? 1_500 : 6_000;
    const endsMs: number[] = [];
    const { evidence, violations } = await undergo({
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
      judge(evidence) {
        const repeats = repeatsAmong(evidence.receipts);
        return [...(repeats > 0 ? [`${repeats} attempts were made again`] : []), ...cutOff(evidence)];
      },
    });
    const reached =
      `${turns} times every process in turn and each of ${poolNames.length} pools from 1 to 4 to 1: ${endsMs.length} processes ` +
      `ended, the slowest after ${(Math.max(...endsMs) / 1_000).toFixed(1)} s; ${summaryOf(evidence)}`;
    return { reached, violations };
  },
};

/** Processes that were still at work when their grace was over. */
const cutOff = ({ texts }: Evidence): string[] =>
  texts.flatMap(({ where, text }) =>
    text.includes('grace period over') ? [`${where}: ended with work in flight`] : [],
  );
