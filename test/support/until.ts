/**
 * Polls every 10 ms, or less often, until `isSo` answers true, for what no event announces. Only mocha's timeout ends it
 * otherwise.
 */
export async function until(isSo: () => Promise<boolean>, everyMs = 10): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, everyMs));
}
