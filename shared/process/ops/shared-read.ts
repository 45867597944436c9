/** Shares a read: at most one in `everyMs`, and no wait over `limitMs`. Resolves with null if it failed or is late. */
export function sharedRead<T>(
  read: () => Promise<T>,
  { everyMs, limitMs }: { everyMs: number; limitMs: number },
): () => Promise<T | null> {
  let latest: Promise<T | null> | undefined;
  let isRunning = false;
  let nextAt = Number.NEGATIVE_INFINITY;

  function begin(): Promise<T | null> {
    isRunning = true;
    nextAt = performance.now() + everyMs;
    const result = read().catch(() => null);
    void result.then(() => {
      isRunning = false;
    });
    return within(limitMs, result);
  }

  return () => {
    if (!latest || (!isRunning && performance.now() >= nextAt)) latest = begin();
    return latest;
  };
}

function within<T>(limitMs: number, result: Promise<T | null>): Promise<T | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, limitMs, null);
    void result.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}
