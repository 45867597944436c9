/** Looks every 10 ms until it is so: for what nobody announces. Mocha's timeout is the only limit. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10));
}
