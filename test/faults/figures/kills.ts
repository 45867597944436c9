import type { Evidence } from '../check/checker.ts';
import { groupBy } from '../check/grouped.ts';
import { longestStandstill, type Work, workOfAll } from '../check/lateness.ts';
import type { Figure } from '../figure.ts';
import { shuffled } from '../random.ts';
import { allKills, killCycle } from '../rounds/kills.ts';
import { runUnderFaults, summaryOf } from '../rounds/run-rounds.ts';

const resumedWithinMs = 15_000;

/** Kills every kind of process at every place of its work, repeatedly, under load. */
export const kills: Figure = {
  name: 'kills',
  goal: '0 rides lost in 200 kill cycles; jobs resume within 15 s',
  async measure(run) {
    const cycles = run.short ? allKills.length : 200;
    const hits = new Map(allKills.map((kill) => [kill, 0]));
    const { evidence, violations } = await runUnderFaults({
      run,
      // The bidding is long, so that its end does not hide a late step.
      world: { settings: { BIDDING_TIMEOUT_MS: '30000' } },
      async faults(arena) {
        const order = [];
        while (order.length < cycles) order.push(...shuffled(arena.random, allKills));
        for (const kill of order.slice(0, cycles)) {
          if (await killCycle(arena, kill)) hits.set(kill, (hits.get(kill) ?? 0) + 1);
        }
      },
      check(evidence) {
        const ms = standstillIn(evidence);
        return ms > resumedWithinMs ? [`work made no progress for ${ms} ms`] : [];
      },
    });
    const standstillMs = standstillIn(evidence);
    const counts = [...hits.values()];
    const reached =
      `${cycles} kill cycles, ${counts.reduce((sum, count) => sum + count)} of them at the intended place (each of ` +
      `${counts.length} places at least ${Math.min(...counts)} times); longest time without progress ` +
      `${(standstillMs / 1_000).toFixed(1)} s; ${summaryOf(evidence)}`;
    return { reached, violations };
  },
};

const standstillIn = (evidence: Evidence): number => longestStandstill(workOfAll(evidence), marksIn(evidence));

/**
 * The times from which the wait for a piece of work counts again: each kill, because kills come every two seconds and
 * may hit the process that resumes the work, and each attempt that reaches the receiver.
 */
function marksIn({ faults, receipts }: Evidence): (work: Work) => number[] {
  const sends = faults.filter(({ name }) => name?.startsWith('webhooks')).map(({ from }) => from);
  const others = faults.filter(({ name }) => !name?.startsWith('webhooks')).map(({ from }) => from);
  const received = groupBy(receipts, ({ rideId, seq }) => `${rideId} event ${seq}`);
  return ({ rideId, what }) => {
    if (!what.startsWith('event')) return others;
    return [...sends, ...(received.get(`${rideId} ${what}`) ?? []).map(({ receivedAt }) => receivedAt)];
  };
}
