import { startOfMonth } from '../../../shared/usage/days.ts';

/** Days, months and counts in words. Pure. */

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

/** `1 trip`, `12 trips` */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
