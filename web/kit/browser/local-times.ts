/**
 * Shows the times of a page (`Time` in facts.tsx) in the reader's zone, relative while they are recent. The words are
 * English, like the page; only the form of the clock is the reader's.
 */
const hasHalfDays = new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions().hour12 === true;
/** English with the reader's form of the clock. */
export const clockLocale = hasHalfDays ? 'en-US' : 'en-GB';
const clockOf = (options?: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(clockLocale, {
    hour: hasHalfDays ? 'numeric' : '2-digit',
    minute: '2-digit',
    ...options,
  });
const dayOf = (options?: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', ...options });

const [clock, clockToTheSecond] = [clockOf(), clockOf({ second: '2-digit' })];
const [dayOfThisYear, fullDay] = [dayOf(), dayOf({ year: 'numeric' })];
/** For a time that has the offset of its own zone (`ZonedTime` in facts.tsx). */
const [zonedDay, zonedClock] = [dayOf({ year: 'numeric', timeZone: 'UTC' }), clockOf({ timeZone: 'UTC' })];

const recentMs = 3_600_000;
const momentSeconds = 10;

/** Formats the times below `root`. A repeat only changes what has changed since then, such as `5 min ago`. */
export function showLocalTimes(root: ParentNode, now = new Date()): void {
  for (const time of root.querySelectorAll<HTMLTimeElement>('time[data-form]')) {
    const at = new Date(time.dateTime);
    const { form, offset } = time.dataset;
    const text = form === 'zoned' ? zonedText(at, Number(offset)) : textOf(at, form, now);
    if (time.textContent !== text) time.textContent = text;
    if (form === 'zoned') continue;
    const title = `${fullDay.format(at)}, ${clockToTheSecond.format(at)} (${utcOf(time.dateTime)})`;
    if (time.title !== title) time.title = title;
    // The stylesheet shows the title on focus: of the time, or of the link that contains it.
    if (!time.closest('a, button, summary')) time.tabIndex = 0;
  }
  showEachDayOnce(root);
}

/** Shows the day of a timeline's entry only at the first entry of this day, in the reader's zone. */
function showEachDayOnce(root: ParentNode): void {
  let previous: string | null = null;
  for (const day of root.querySelectorAll<HTMLElement>('.timeline .day')) {
    if (day.hidden !== (day.textContent === previous)) day.hidden = !day.hidden;
    previous = day.textContent;
  }
}

function zonedText(at: Date, offsetMs: number): string {
  const shown = new Date(at.getTime() + offsetMs);
  return `${zonedDay.format(shown)}, ${zonedClock.format(shown)}`;
}

function textOf(at: Date, form: string | undefined, now: Date): string {
  if (form === 'time') return clockToTheSecond.format(at);
  if (form === 'minute') return clock.format(at);
  const day = (at.getFullYear() === now.getFullYear() ? dayOfThisYear : fullDay).format(at);
  if (form === 'date') return day;
  if (form === 'exact') return `${day}, ${clockToTheSecond.format(at)}`;
  const ageMs = now.getTime() - at.getTime();
  if (form === 'clock') {
    const time = day === dayOfThisYear.format(now) ? clock.format(at) : `${day}, ${clock.format(at)}`;
    return Math.abs(ageMs) < recentMs ? `${time} (${relativeText(ageMs)})` : time;
  }
  return Math.abs(ageMs) < recentMs ? relativeText(ageMs) : `${day}, ${clock.format(at)}`;
}

/** `just now`, `12 s ago`, `5 min ago`, or `in 5 min` for a future time. */
function relativeText(ageMs: number): string {
  const seconds = Math.floor(Math.abs(ageMs) / 1_000);
  if (seconds < momentSeconds) return 'just now';
  const amount = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
  return ageMs > 0 ? `${amount} ago` : `in ${amount}`;
}

/** `2026-11-21 14:03:22.084 UTC` */
const utcOf = (iso: string): string => iso.replace('T', ' ').replace('Z', ' UTC');
