/** Events with feed times up to a mark are shown this long after the mark was stored. */
export const shownAfterMs = 3_000;

/** MongoDB's answer to a write of the mark. Times of this process are monotonic (ms). */
interface MarkAnswer {
  mark: number;
  /** The highest feed time that other processes show. */
  shown: number;
  /** MongoDB's clock at the write (Unix ms). */
  clock: number;
  askedAt: number;
  answeredAt: number;
  /** A value that changes with the primary; null if the primary is unknown. */
  server: unknown;
}

interface WaitingMark {
  mark: number;
  askedAt: number;
  since: number;
  sinceClock: number;
}

export interface ShowingMarks {
  note(answer: MarkAnswer): void;
  /** The highest feed time that is shown (Unix ms). */
  shown(): number;
  /** All events written before this time are shown (monotonic ms of this process). */
  shownFrom(): number;
}

/**
 * Decides when events up to a stored mark are shown: 3 s after the mark was stored, by this process's monotonic clock
 * and also by MongoDB's clock in its answers. The monotonic clock bounds the time that a write can be in flight.
 * MongoDB's clock proves that MongoDB now refuses every write that was decided before the mark (write-change.ts), even
 * if MongoDB was paused. The wait restarts if MongoDB's clock is set back or another server answers. Pure.
 */
export function showingMarks(): ShowingMarks {
  let waiting: WaitingMark[] = [];
  let shown = 0;
  let shownFrom = Number.NEGATIVE_INFINITY;
  let last: { clock: number; server: unknown } | undefined;

  return {
    note({ mark, shown: shownByOthers, clock, askedAt, answeredAt, server }) {
      shown = Math.max(shown, shownByOthers);
      if (last && (clock < last.clock || server !== last.server || server === null)) {
        waiting = waiting.map((each) => ({ ...each, since: answeredAt, sinceClock: clock }));
      }
      last = { clock, server };
      const isOver = (each: WaitingMark) =>
        askedAt - each.since >= shownAfterMs && clock - each.sinceClock >= shownAfterMs;
      for (const each of waiting.filter(isOver)) {
        shown = Math.max(shown, each.mark);
        shownFrom = Math.max(shownFrom, each.askedAt);
      }
      waiting = waiting.filter((each) => !isOver(each));
      waiting.push({ mark, askedAt, since: answeredAt, sinceClock: clock });
    },
    shown: () => shown,
    shownFrom: () => shownFrom,
  };
}
