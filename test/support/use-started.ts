type Started = { close(): unknown };

const open: Started[] = [];

/**
 * Starts something before the tests of the surrounding describe and closes it after them. The returned handle has its
 * fields only while these tests run.
 */
export function useStarted<Handle extends Started>(start: () => Promise<Handle>): Handle {
  const handle = {} as Handle;
  before(async () => void open.push(Object.assign(handle, await start())));
  // Closes in reverse order, because later ones may need earlier ones.
  after(() => open.pop()?.close());
  return handle;
}
