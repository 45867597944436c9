/** The positions up to a mark are shown this long after the mark was stored. */
export const shownAfterMs = 3_000;

/** An answer of MongoDB to a write of the mark. Times of this process are monotonic (ms). */
interface MarkAnswer {
  mark: number;
  /** The highest position that other processes show. */
  shown: number;
  /** MongoDB's clock at the write (Unix ms). */
  clock: number;
  askedAt: number;
  answeredAt: number;
  /** Changes with the server that answers; -1 when it is unknown. */
  server: number;
}

interface WaitingMark {
  mark: number;
  askedAt: number;
  since: number;
  sinceClock: number;
}

export interface ShowingMarks {
  note(answer: MarkAnswer): void;
  /** The highest position that is shown (Unix ms). */
  shown(): number;
  /** All that was written before this time of this process is shown. */
  shownFrom(): number;
}

/**
 * Decides when a stored mark is shown: after 3 s by this process's monotonic clock and by MongoDB's, as its answers
 * show. The first bounds the time that a write can be on its way; by the second, MongoDB has refused every write that
 * was decided before (write-change.ts), also when it was paused in between. When MongoDB's clock goes back, or another
 * server answers, the wait begins again. Pure.
 */
export function showingMarks(): ShowingMarks {
  let waiting: WaitingMark[] = [];
  let shown = 0;
  let shownFrom = Number.NEGATIVE_INFINITY;
  let last: { clock: number; server: number } | undefined;

  return {
    note({ mark, shown: shownByOthers, clock, askedAt, answeredAt, server }) {
      shown = Math.max(shown, shownByOthers);
      if (last && (clock < last.clock || server !== last.server || server === -1)) {
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
