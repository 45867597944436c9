/** How long a stop waits for what is written beside the deliveries. */
const stopMs = 1_000;

/** Writes that no delivery waits for. */
export interface Beside {
  /** Writes a little later, together with what comes until then. */
  soon(): void;
  /** Writes now. Resolves when nothing is left to write, or after a second. */
  flush(): Promise<void>;
}

/** Calls `write`, which never rejects, some time after it was asked for, never twice at once and again while `isWaiting`. */
export function beside(write: () => Promise<void>, isWaiting: () => boolean, delayMs: number): Beside {
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
  return {
    soon,
    async flush() {
      let limit: NodeJS.Timeout | undefined;
      const atLatest = new Promise<void>((resolve) => {
        limit = setTimeout(resolve, stopMs);
      });
      await Promise.race([writeAll(), atLatest]);
      clearTimeout(limit);
    },
  };
}
