import { describeError } from '../../shared/base/errors.ts';
import type { Logger } from '../../shared/base/logger.ts';

/** After a pause, news is read this long (ms) after it arrived, together with all news until then. */
const firstNewsMs = 5;
/** The least time (ms) between two reads of news, so that a busy time needs few reads. */
const batchMs = 50;
interface WatchOptions<Watcher> {
  /** Reads all of these ids, and passes changes to the watchers of each id. */
  look(watched: ReadonlyMap<string, readonly Watcher[]>): Promise<void>;
  /** Each id is read at least once in this time (ms), because news can be lost. */
  pollMs: number;
  /** At most this many ids without news are read together, so that ids with news do not wait for all others. */
  maxPolled?: number;
  /** Subscribes `note` to the ids that may have changed, watched or not. Returns a function that unsubscribes. */
  onNews?(note: (id: string) => void): () => void;
  log: Logger;
  /** The log message when `look` fails. */
  failure: string;
}

export interface Watch<Watcher> {
  /** Adds a watcher of an id. Call the returned function to remove it. */
  join(id: string, watcher: Watcher): () => void;
  /** Reads an id now, or right after the look in progress. */
  lookNow(id: string): void;
  /** The number of watchers of an id. */
  count(id: string): number;
  close(): void;
}

/**
 * Passes the changes of each id to its watchers (e.g. streams and long polls) with few reads:
 *
 * - An id is read once for all its watchers, and all ids with news share one read, 5 ms after the first news, but at
 *   most every 50 ms.
 * - Without news an id is read every `pollMs`, at most `maxPolled` ids (100) in one read.
 * - Looks never overlap, so a later look shows a later state. A failed look is logged, and its ids are read at the next
 *   poll.
 * - A look passes its result to the watchers that existed when it began. An id that gets a watcher or news during its
 *   look is read again, so that no watcher misses a change.
 */
export function watch<Watcher>({
  look,
  pollMs,
  maxPolled = 100,
  onNews,
  log,
  failure,
}: WatchOptions<Watcher>): Watch<Watcher> {
  const watchers = new Map<string, Set<Watcher>>();
  const withNews = new Set<string>();
  const toPoll = new Set<string>();
  /** The ids of the look in progress. */
  let inLook: ReadonlyMap<string, unknown> | undefined;
  let batchTimer: NodeJS.Timeout | undefined;
  /** When news was last read, by `performance.now()`. */
  let newsReadAt = Number.NEGATIVE_INFINITY;

  async function lookAtAll(): Promise<void> {
    if (inLook) return;
    while (withNews.size + toPoll.size > 0) {
      const watched = takeNext();
      inLook = watched;
      if (watched.size > 0) await look(watched).catch(report);
    }
    inLook = undefined;
  }

  function takeNext(): ReadonlyMap<string, readonly Watcher[]> {
    const next = new Map<string, readonly Watcher[]>();
    for (const id of [...withNews, ...[...toPoll].slice(0, maxPolled)]) {
      withNews.delete(id);
      toPoll.delete(id);
      const present = watchers.get(id);
      if (present) next.set(id, [...present]);
    }
    return next;
  }

  function report(error: unknown): void {
    log.warn({ error: describeError(error) }, failure);
  }

  const stopNews = onNews?.((id) => {
    if (!watchers.has(id)) return;
    withNews.add(id);
    batchTimer ??= setTimeout(
      () => {
        batchTimer = undefined;
        newsReadAt = performance.now();
        void lookAtAll();
      },
      Math.max(firstNewsMs, newsReadAt + batchMs - performance.now()),
    ).unref();
  });
  const pollTimer = setInterval(() => {
    for (const id of watchers.keys()) toPoll.add(id);
    void lookAtAll();
  }, pollMs).unref();

  return {
    join(id, watcher) {
      const present = watchers.get(id) ?? new Set();
      watchers.set(id, present.add(watcher));
      if (inLook?.has(id)) withNews.add(id);
      return () => {
        present.delete(watcher);
        if (present.size === 0 && watchers.get(id) === present) watchers.delete(id);
      };
    },
    lookNow(id) {
      withNews.add(id);
      void lookAtAll();
    },
    count: (id) => watchers.get(id)?.size ?? 0,
    close() {
      stopNews?.();
      clearInterval(pollTimer);
      clearTimeout(batchTimer);
      withNews.clear();
      toPoll.clear();
    },
  };
}
