import type { Context } from '../base/context.ts';
import type { Point } from '../base/great-circle.ts';
import { type Update, updateDocuments } from '../base/mongo/batch.ts';
import { placed, withoutRide } from './change-availability.ts';
import { around, type DriverPosition, maxReportAgeMs, notJournaled, positions } from './positions.ts';

/** A position that a driver reports. */
export interface Report extends Point {
  heading?: number;
  /** The time on the phone's clock, if the phone reports it. */
  at?: Date;
}

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

const minReportMs = 1_000;
/** After this long without one, a report is written whatever its time: the phone's clock may have been set back. */
const staleForMs = 60_000;

/**
 * Writes reports of different drivers in one command. A report changes only `seenAt` if it is older than the last one
 * by the phone's clock, or if another process wrote a report within the last second.
 */
export async function writeReports(reports: ReadonlyMap<string, Report>, now: Date): Promise<void> {
  const entries = [...reports];
  const updates = entries.map(([driverId, { heading, at, ...place }]): Update<DriverPosition> => {
    const report = {
      ...{ ...placed(place), at: shownAt(at, now), seenAt: '$$NOW', reportedAt: now },
      ...(heading !== undefined && { heading }),
      ...(at && { phoneAt: at }),
    };
    const isStale = at && { phoneAt: { $gte: at }, reportedAt: around(now, staleForMs) };
    return {
      filter: { _id: driverId, $nor: [{ reportedAt: around(now, minReportMs - 1) }, ...(isStale ? [isStale] : [])] },
      change: [{ $set: { ...report, ...availability(report.cells) } }],
    };
  });
  const outcomes = await updateDocuments(positions, updates, notJournaled);
  const unmatched = entries.filter((_, index) => outcomes[index] === false);
  if (unmatched.length > 0) await insertOrMarkSeen(unmatched, now);
}

/** For an update pipeline: whether a driver who reports from these cells is available, and if newly so, since when. */
function availability(cells?: readonly number[]) {
  const available = { $and: [{ $ifNull: ['$isOnline', false] }, withoutRide] };
  const isElsewhere = cells ? [{ $ne: [{ $arrayElemAt: ['$cells', 0] }, cells[0]] }] : [];
  // A silent driver stays `available` until the next sweep, but rounds already pass over the driver.
  const wasSilent = { $gt: [{ $abs: { $subtract: ['$$NOW', '$seenAt'] } }, maxReportAgeMs] };
  const wasAway = { $or: [{ $ne: ['$available', true] }, wasSilent] };
  const becomesFree = { $and: [available, { $or: [wasAway, { $eq: ['$atEdge', true] }, ...isElsewhere] }] };
  const isMarked = { $ne: [{ $type: '$freeSince' }, 'missing'] };
  const kept = { $cond: [isMarked, '$freeFrom', { lat: '$lat', lng: '$lng' }] };
  return {
    available,
    freeSince: { $cond: [becomesFree, '$$NOW', '$freeSince'] },
    freeFrom: { $cond: [becomesFree, { $cond: [wasAway, '$$REMOVE', kept] }, '$freeFrom'] },
    atEdge: { $cond: [becomesFree, '$$REMOVE', '$atEdge'] },
  };
}

/** The time reported by the phone, or `now` if that time is in the future or more than a minute old. */
function shownAt(at: Date | undefined, now: Date): Date {
  return at && at <= now && at.getTime() >= now.getTime() - staleForMs ? at : now;
}

/** Inserts a document for each driver who has none. Otherwise changes only `seenAt` and `available`. */
async function insertOrMarkSeen(reports: readonly [string, Report][], now: Date): Promise<void> {
  await positions.bulkWrite(
    reports.map(([driverId, { heading = 0, at, ...place }]) => {
      const first = {
        ...{ ...placed(place), heading, at: shownAt(at, now), reportedAt: now, isOnline: false, requests: [] },
        ...(at && { phoneAt: at }),
      };
      const missing = Object.entries(first).map(([field, value]) => [field, { $ifNull: [`$${field}`, value] }]);
      const update = [{ $set: { ...Object.fromEntries(missing), seenAt: '$$NOW', ...availability() } }];
      return { updateOne: { filter: { _id: driverId }, update, upsert: true } };
    }),
    { ordered: false, writeConcern: notJournaled },
  );
}
