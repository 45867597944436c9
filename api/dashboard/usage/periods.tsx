import { AppError } from '../../../shared/base/errors.ts';
import {
  dayMs,
  endOfMonth,
  isMonth,
  monthOf,
  previousMonth,
  startOfDay,
  startOfMonth,
} from '../../../shared/usage/days.ts';
import type { Period } from '../../../shared/usage/usage.ts';
import { monthPath, usagePath } from '../../../web/kit/paths.ts';

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

/** The number of months that are listed; earlier ones are in a folded list. */
const shownMonths = 6;

/** Links to the months, and to the last 30 days. */
export function Periods({ months, month }: { months: readonly string[]; month?: string }) {
  const link = (name: string) => (
    <li key={name}>
      <a href={monthPath(name)} aria-current={name === month ? 'page' : undefined}>
        {monthText(name)}
      </a>
    </li>
  );
  const earlier = months.slice(shownMonths);
  return (
    <nav class="periods" aria-label="Period">
      <ul>
        <li>
          <a href={usagePath} aria-current={month ? undefined : 'page'}>
            Last 30 days
          </a>
        </li>
        {months.slice(0, shownMonths).map(link)}
      </ul>
      {earlier.length > 0 && (
        <details open={month !== undefined && earlier.includes(month)}>
          <summary>Earlier months</summary>
          <ul>{earlier.map(link)}</ul>
        </details>
      )}
    </nav>
  );
}
