/**
 * Polls until `isSo` answers true, for what no event announces: after `everyMs`, then less and less often, at least every
 * 100 ms. Only mocha's timeout ends it otherwise.
 */
export async function until(isSo: () => Promise<boolean>, everyMs = 10): Promise<void> {
  const slowestMs = Math.max(everyMs, 100);
  for (let waitMs = everyMs; !(await isSo()); waitMs = Math.min(waitMs * 1.2, slowestMs)) {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}
