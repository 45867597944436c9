/** Polls every 10 ms until `isSo` answers true, for what no event announces. Only mocha's timeout ends it otherwise. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10));
}
