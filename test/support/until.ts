/**
 * Polls until `isSo` resolves with true, for conditions that no event signals. The interval grows from `everyMs` to 100
 * ms. Without success, only mocha's timeout ends it.
 */
export async function until(isSo: () => Promise<boolean>, everyMs = 10): Promise<void> {
  await becomes(isSo, Number.POSITIVE_INFINITY, everyMs);
}

/** Polls in the same way. Resolves with true as soon as `isSo` does, or with false after `withinMs`. */
export async function becomes(isSo: () => Promise<boolean>, withinMs: number, everyMs = 10): Promise<boolean> {
  const slowestMs = Math.max(everyMs, 100);
  const giveUpAt = performance.now() + withinMs;
  for (let waitMs = everyMs; !(await isSo()); waitMs = Math.min(waitMs * 1.2, slowestMs)) {
    if (performance.now() > giveUpAt) return false;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
  return true;
}
