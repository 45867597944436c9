import { setTimeout } from 'node:timers/promises';
import { rides } from '../../../shared/rides/ride.ts';
import { becomes } from '../../support/until.ts';

const lateMs = 250;
const intervalMs = 500;

/** Counts twice a second how many rides have a late timer. */
export function watchBacklog() {
  const samples: { at: number; late: number }[] = [];
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      const late = await rides.countDocuments({ nextDueAt: { $lte: new Date(Date.now() - lateMs) } });
      samples.push({ at: Date.now(), late });
      await setTimeout(intervalMs);
    }
  })();
  return {
    most: () => Math.max(...samples.map(({ late }) => late)),
    /** When a timer was last seen to be late (Unix ms). */
    goneAt: () => samples.findLast(({ late }) => late > 0)?.at ?? 0,
    /** Waits until every ride has ended and every event is settled. Throws after `withinMs`. */
    async waitUntilGone(withinMs: number) {
      const left = () => rides.countDocuments({ $or: [{ nextDueAt: { $exists: true } }, { unsettled: { $gt: 0 } }] });
      const isOver = await becomes(async () => (await left()) === 0, withinMs, intervalMs);
      if (!isOver) throw new Error(`whole rides: ${await left()} have not ended`);
    },
    stop() {
      stopped = true;
      return watching;
    },
  };
}
