import { AppError } from '../../shared/base/errors.ts';
import {
  dayMs,
  endOfMonth,
  isMonth,
  monthOf,
  previousMonth,
  startOfDay,
  startOfMonth,
} from '../../shared/usage/days.ts';
import type { Period } from '../../shared/usage/usage-summary.ts';

/** Days and months of the usage pages, all in UTC. */

const inEnglish = (options: Intl.DateTimeFormatOptions) => {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options });
  return (at: Date) => format.format(at);
};

const monthAndYear = inEnglish({ month: 'long', year: 'numeric' });
const dayAndMonth = inEnglish({ day: 'numeric', month: 'long' });
const shortDay = inEnglish({ day: 'numeric', month: 'short' });
const fullDay = inEnglish({ day: 'numeric', month: 'long', year: 'numeric' });

/** `November 2026` */
export const monthText = (month: string): string => monthAndYear(startOfMonth(month));

const startOf = (day: string) => new Date(`${day}T00:00:00Z`);
/** `5 November` */
export const dayText = (day: string): string => dayAndMonth(startOf(day));
/** `5 Nov` */
export const shortDayText = (day: string): string => shortDay(startOf(day));
/** `5 November 2026` */
export const fullDayText = (at: Date): string => fullDay(at);

/** Checks the month in an address (`2026-11`). Throws `not_found` if it is invalid or in the future. */
export function chosenMonth(text: string, nowMs: number): string {
  if (!isMonth(text) || text > monthOf(new Date(nowMs))) throw new AppError('not_found');
  return text;
}

/** The days of a month up to today, or the last 30 days, today included. */
export function periodOf(month: string | undefined, nowMs: number): Period {
  const tomorrow = new Date(startOfDay(nowMs) + dayMs);
  if (!month) return { from: new Date(tomorrow.getTime() - 30 * dayMs), to: tomorrow };
  const end = endOfMonth(month);
  return { from: startOfMonth(month), to: end < tomorrow ? end : tomorrow };
}

/** The months from `first` to the current one, newest first. */
export function monthsSince(first: string, nowMs: number): string[] {
  const months = [monthOf(new Date(nowMs))];
  for (let month = previousMonth(months[0] as string); month >= first; month = previousMonth(month)) months.push(month);
  return months;
}
