import type { Context } from '../base/context.ts';
import { type Report, writeReports } from './positions.ts';

/** Reports that arrive within this time (ms) are written in one command. */
const windowMs = 100;
/** The shortest time between two writes of a driver's position. */
const minWriteIntervalMs = 1_000;

interface PendingReport {
  report: Report;
  done: Waiter[];
}

interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
}

export interface PositionReports {
  /** Resolves when this report, or a newer one of the same driver, is written. Rejects if MongoDB is unavailable. */
  add(driverId: string, report: Report): Promise<void>;
}

/**
 * Writes drivers' reports in batches: for each driver, at most the newest report of each second. A driver who reports
 * more often waits up to a second for the response.
 */
export function positionReports({ now }: Pick<Context, 'now'>): PositionReports {
  const waiting = new Map<string, PendingReport>();
  /** The time of each driver's last write, oldest first. */
  const writtenAt = new Map<string, number>();
  let isScheduled = false;

  const isDue = (driverId: string, nowMs: number): boolean =>
    Math.abs(nowMs - (writtenAt.get(driverId) ?? Number.NEGATIVE_INFINITY)) >= minWriteIntervalMs;

  async function flush(): Promise<void> {
    const nowMs = now();
    for (const [driverId, at] of writtenAt) {
      if (Math.abs(nowMs - at) < minWriteIntervalMs) break;
      writtenAt.delete(driverId);
    }
    const due = [...waiting].filter(([driverId]) => isDue(driverId, nowMs));
    for (const [driverId] of due) {
      waiting.delete(driverId);
      writtenAt.set(driverId, nowMs);
    }
    schedule();
    if (due.length === 0) return;
    const done = due.flatMap(([, { done }]) => done);
    await writeReports(new Map(due.map(([driverId, { report }]) => [driverId, report])), new Date(nowMs)).then(
      () =>
        done.forEach(({ resolve }) => {
          resolve();
        }),
      (error) =>
        done.forEach(({ reject }) => {
          reject(error);
        }),
    );
  }

  function schedule(): void {
    if (isScheduled || waiting.size === 0) return;
    isScheduled = true;
    setTimeout(() => {
      isScheduled = false;
      void flush();
    }, windowMs);
  }

  return {
    add: (driverId, report) =>
      new Promise((resolve, reject) => {
        const { report: other, done } = waiting.get(driverId) ?? { report, done: [] };
        const newest = other.at && report.at && other.at > report.at ? other : report;
        waiting.set(driverId, { report: newest, done: [...done, { resolve, reject }] });
        schedule();
      }),
  };
}
