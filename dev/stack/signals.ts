/**
 * Aborted by the first SIGINT, SIGTERM or SIGHUP. One that comes again, be it from npm or from an impatient hand,
 * changes nothing: what is running still has to be ended, which takes seconds at most.
 */
export function endSignal(): AbortSignal {
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ending.abort());
  return ending.signal;
}

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
