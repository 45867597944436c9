/**
 * Polls until `isSo` resolves with true, for conditions that no event signals. The interval grows from `everyMs` to 100
 * ms. Without success, only mocha's timeout ends it.
 */
export async function until(isSo: () => Promise<boolean>, everyMs = 10): Promise<void> {
  const slowestMs = Math.max(everyMs, 100);
  for (let waitMs = everyMs; !(await isSo()); waitMs = Math.min(waitMs * 1.2, slowestMs)) {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}
