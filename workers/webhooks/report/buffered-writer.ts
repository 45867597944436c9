import { setTimeout as sleep } from 'node:timers/promises';

/** The longest time that a stop waits for the last writes. */
const stopMs = 1_000;

/** Writes in the background, so that no delivery waits for these writes. */
interface BufferedWriter {
  /** Schedules a write. It includes everything that is added before the write starts. */
  soon(): void;
  /** Writes now. Resolves when nothing is left to write, or after a second. */
  flush(): Promise<void>;
}

/**
 * Calls `write` (which must never reject) `delayMs` after `soon`, and again while `isWaiting` returns true. Two calls
 * never overlap.
 */
export function createBufferedWriter(
  write: () => Promise<void>,
  isWaiting: () => boolean,
  delayMs: number,
): BufferedWriter {
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | null = null;

  function soon(): void {
    if (!writing) timer ??= setTimeout(start, delayMs).unref();
  }
  function start(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing ??= write().finally(() => {
      writing = null;
      if (isWaiting()) soon();
    });
    return writing;
  }
  async function writeAll(): Promise<void> {
    while (writing || isWaiting()) await start();
  }
  return { soon, flush: () => Promise.race([writeAll(), sleep(stopMs, undefined, { ref: false })]) };
}
