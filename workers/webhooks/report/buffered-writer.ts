import { setTimeout as sleep } from 'node:timers/promises';

/** A stop waits this long for what is not written yet. */
const stopMs = 1_000;

/** Writes that no delivery waits for. */
interface BufferedWriter {
  /** Writes a little later, together with what comes until then. */
  soon(): void;
  /** Writes now. Resolves when nothing is left to write, or after a second. */
  flush(): Promise<void>;
}

/**
 * Calls `write`, which never rejects, `delayMs` after `soon`; never twice at once, and again while `isWaiting` returns true.
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
