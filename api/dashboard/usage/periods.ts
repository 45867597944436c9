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

/** The month of an address (`2026-11`). Throws `not_found` for what is no month, and for a month to come. */
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

/** The months from this one to the present one, newest first. */
export function monthsSince(first: string, nowMs: number): string[] {
  const months = [monthOf(new Date(nowMs))];
  for (let month = previousMonth(months[0] as string); month >= first; month = previousMonth(month)) months.push(month);
  return months;
}
