/** Days and months of the usage pages, all in UTC. Pure. */

export const dayMs = 24 * 3_600_000;

/**
 * A day is summed this long after its end, when all its rides are known. A ride is written within seconds of its
 * `createdAt`, which is by MongoDB's clock, and that clock may step by seconds when the primary changes.
 */
const graceMs = 3_600_000;

/** The start of a day (Unix ms). */
export const startOfDay = (atMs: number): number => Math.floor(atMs / dayMs) * dayMs;

/** The start of the first day that cannot be summed yet. Months that end by then can be closed. */
export const summableUntil = (nowMs: number): Date => new Date(startOfDay(nowMs - graceMs));

/** The day as `2026-11-05`. */
export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** The day of the month as `05`. */
export const dayOfMonth = (at: Date): string => dayOf(at).slice(8);

/** The month as `2026-11`. */
export const monthOf = (at: Date): string => at.toISOString().slice(0, 7);

/** True if a text is a month in the format of `monthOf`. */
export const isMonth = (text: string): boolean => /^20\d\d-(0[1-9]|1[0-2])$/.test(text);

export const startOfMonth = (month: string): Date => new Date(`${month}-01T00:00:00Z`);

/** The start of the next month. */
export function endOfMonth(month: string): Date {
  const start = startOfMonth(month);
  return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1));
}

export const previousMonth = (month: string): string => monthOf(new Date(startOfMonth(month).getTime() - 1));

/** The days in [from, to), both starts of days, in the format of `dayOf`. */
export function daysBetween(from: Date, to: Date): string[] {
  const count = Math.max(0, Math.round((to.getTime() - from.getTime()) / dayMs));
  return Array.from({ length: count }, (_, index) => dayOf(new Date(from.getTime() + index * dayMs)));
}
