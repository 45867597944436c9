import type { Figure } from '../figure.ts';
import type { Call } from '../load/request.ts';
import { rebidWays } from '../load/side-ways.ts';
import { oneOf } from '../random.ts';
import { type Kill, killCycle } from '../rounds/kills.ts';
import { runUnderFaults, summaryOf } from '../rounds/run-rounds.ts';

/** The places between a cancellation, its successor, and the event that names the successor. */
const places: readonly Kill[] = [
  { kind: 'api', place: 'between change and enqueue' },
  { kind: 'bidding', place: 'before the insert' },
  { kind: 'bidding', place: 'between commit and enqueue' },
  { kind: 'bidding', place: 'before a change' },
  { kind: 'bidding', place: 'between change and enqueue' },
  { kind: 'webhooks', place: 'before the claim' },
  { kind: 'webhooks', place: 'between claim and send' },
];

/** Drivers cancel rides with `onDriverCancel` while the processes that insert the successors are killed. */
export const rebids: Figure = {
  name: 'rebids',
  goal: 'exactly one successor for each of 1,000 cancellations with kills',
  async measure(run) {
    const wanted = run.short ? 60 : 1_000;
    let hits = 0;
    let cycles = 0;
    const { evidence, violations } = await runUnderFaults({
      run,
      ways: rebidWays,
      drivers: 0,
      async faults(arena, { journal }) {
        while (cancellationsIn(journal) < wanted) {
          if (await killCycle(arena, oneOf(arena.random, places))) hits += 1;
          cycles += 1;
        }
      },
    });
    const replaced = evidence.rides.filter(({ replacedBy }) => replacedBy).length;
    const reached = `${replaced} cancelled rides with a successor; ${cycles} kill cycles, ${hits} of them at the intended place`;
    return { reached: `${reached}; ${summaryOf(evidence)}`, violations };
  },
};

const cancellationsIn = (journal: readonly Call[]): number =>
  journal.filter(({ step, status }) => step === 'cancel' && status === 200).length;
