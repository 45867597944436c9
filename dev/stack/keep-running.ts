import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningProcess } from '../servers/processes.ts';

const shortestWaitMs = 200;
const longestWaitMs = 5_000;
/**
 * After a run of at least this long, a process restarts after the shortest wait. After a shorter run the wait doubles.
 */
const stableAfterMs = 10_000;

export type RestartingProcess<T> = { first: T; stop(): Promise<void> };

/**
 * Starts a process and restarts it whenever it dies, until `stop`. Rejects when the first start fails, because a retry
 * would fail for the same reason.
 */
export async function keepRunning<T extends RunningProcess>(
  name: string,
  start: () => Promise<T>,
  say: (line: string) => void,
): Promise<RestartingProcess<T>> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const first = await start();
  let current = first;

  async function restart(reason: string, waitMs: number): Promise<number> {
    say(`${name} has ended (${reason}): restarting it`);
    for (let nextMs = waitMs; ; nextMs = Math.min(nextMs * 2, longestWaitMs)) {
      await sleep(nextMs, undefined, { signal });
      try {
        current = await start();
        say(`${name} is running again`);
        return nextMs;
      } catch (error) {
        say(`${name} did not start (${(error as Error).message}): retrying`);
      }
    }
  }

  async function watch(): Promise<void> {
    let waitMs = shortestWaitMs;
    for (;;) {
      const startedAt = Date.now();
      const reason = await current.exited;
      if (signal.aborted) return;
      waitMs = Date.now() - startedAt > stableAfterMs ? shortestWaitMs : waitMs * 2;
      waitMs = await restart(reason, Math.min(waitMs, longestWaitMs));
      // If `stop` was called during the restart, it has stopped only the previous process, so the new one is stopped
      // here.
      if (signal.aborted) await current.stop();
    }
  }

  const watching = watch().catch((error: Error) => {
    if (error.name !== 'AbortError') throw error;
  });
  const stop = async () => {
    stopping.abort();
    await current.stop();
    await watching;
  };
  return { first, stop };
}
