/** Days and months of the usage pages: all are UTC. Pure. */

export const dayMs = 24 * 3_600_000;

/**
 * A day is summed this long after its end. Then all its rides are known: a creation commits within seconds of its
 * `createdAt`, and that time comes from MongoDB's clock, which may step by seconds when a replica set changes its primary.
 */
const graceMs = 3_600_000;

/** The start of a day (Unix ms). */
export const startOfDay = (atMs: number): number => Math.floor(atMs / dayMs) * dayMs;

/** The days before this time (the start of a day) can be summed, and the months that end by then can be closed. */
export const overUntil = (nowMs: number): Date => new Date(startOfDay(nowMs - graceMs));

/** `2026-11-05` */
export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** `05` */
export const dayOfMonth = (at: Date): string => dayOf(at).slice(8);

/** `2026-11` */
export const monthOf = (at: Date): string => at.toISOString().slice(0, 7);

/** Whether a text is a month as `monthOf` writes it. */
export const isMonth = (text: string): boolean => /^20\d\d-(0[1-9]|1[0-2])$/.test(text);

export const startOfMonth = (month: string): Date => new Date(`${month}-01T00:00:00Z`);

/** The start of the next month. */
export function endOfMonth(month: string): Date {
  const start = startOfMonth(month);
  return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1));
}

export const previousMonth = (month: string): string => monthOf(new Date(startOfMonth(month).getTime() - 1));

/** The days from one time up to and without another (both starts of days), as `dayOf` writes them. */
export function daysBetween(from: Date, to: Date): string[] {
  const count = Math.max(0, Math.round((to.getTime() - from.getTime()) / dayMs));
  return Array.from({ length: count }, (_, index) => dayOf(new Date(from.getTime() + index * dayMs)));
}
