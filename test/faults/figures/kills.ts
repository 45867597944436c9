import type { Evidence } from '../check/checker.ts';
import { longestStandstill, type Work, workOfAll } from '../check/lateness.ts';
import type { Figure } from '../figure.ts';
import { shuffled } from '../random.ts';
import { allKills, killCycle } from '../rounds/kills.ts';
import { summaryOf, undergo } from '../rounds/run-rounds.ts';

const resumedWithinMs = 15_000;

/** Every place of every process's work, again and again, under load. */
export const kills: Figure = {
  name: 'kills',
  promise: "acknowledged rides lost; a killed worker's job goes on",
  goal: '0 rides lost in 200 kill cycles; jobs go on within 15 s',
  async measure(run) {
    const cycles = run.short ? allKills.length : 200;
    const came = new Map(allKills.map((kill) => [kill, 0]));
    const { evidence, violations } = await undergo({
      run,
      // A step that is late must not be hidden by the end of the bidding.
      world: { settings: { BIDDING_TIMEOUT_MS: '30000' } },
      async faults(arena) {
        const order = [];
        while (order.length < cycles) order.push(...shuffled(arena.random, allKills));
        for (const kill of order.slice(0, cycles)) {
          if (await killCycle(arena, kill)) came.set(kill, (came.get(kill) ?? 0) + 1);
        }
      },
      judge(evidence) {
        const ms = standstillIn(evidence);
        return ms > resumedWithinMs ? [`a work stood still for ${ms} ms`] : [];
      },
    });
    const standstillMs = standstillIn(evidence);
    const counts = [...came.values()];
    const reached =
      `${cycles} kill cycles, ${counts.reduce((sum, count) => sum + count)} of them at the very place (each of ` +
      `${counts.length} places at least ${Math.min(...counts)} times); no work stood still for longer than ` +
      `${(standstillMs / 1_000).toFixed(1)} s; ${summaryOf(evidence)}`;
    return { reached, violations };
  },
};

const standstillIn = (evidence: Evidence): number => longestStandstill(workOfAll(evidence), marksIn(evidence));

/**
 * What happens to a work beside its being done. At one kill in less than two seconds, the process that goes on with it may
 * be killed as well, and its time begins anew; so it does with each attempt that reaches the receiver.
 */
function marksIn({ faults, receipts }: Evidence): (work: Work) => number[] {
  const sends = faults.filter(({ name }) => name?.startsWith('webhooks')).map(({ from }) => from);
  const others = faults.filter(({ name }) => !name?.startsWith('webhooks')).map(({ from }) => from);
  const received = new Map<string, number[]>();
  for (const { rideId, seq, receivedAt } of receipts) {
    const work = `${rideId} event ${seq}`;
    received.set(work, [...(received.get(work) ?? []), receivedAt]);
  }
  return ({ rideId, what }) => {
    return what.startsWith('event') ? [...sends, ...(received.get(`${rideId} ${what}`) ?? [])] : others;
  };
}
