type Started = { close(): unknown };

const open: Started[] = [];

/**
 * Starts something before the tests of the surrounding describe and closes it after them. The handle has its fields
 * while these tests run.
 */
export function useStarted<Handle extends Started>(start: () => Promise<Handle>): Handle {
  const handle = {} as Handle;
  before(async () => void open.push(Object.assign(handle, await start())));
  // Close in reverse order: later ones may need earlier ones.
  after(() => open.pop()?.close());
  return handle;
}
