/**
 * Shows the times of a page (`Time` in facts.tsx) in the reader's zone, relative while they are recent. The words are
 * English, like the page; only the form of the clock is the reader's.
 */
const hasHalfDays = new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions().hour12 === true;
const clockOf = (second?: '2-digit') =>
  new Intl.DateTimeFormat(hasHalfDays ? 'en-US' : 'en-GB', {
    hour: hasHalfDays ? 'numeric' : '2-digit',
    minute: '2-digit',
    second,
  });
const dayOf = (year?: 'numeric') => new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year });

const [clock, clockToTheSecond] = [clockOf(), clockOf('2-digit')];
const [dayOfThisYear, fullDay] = [dayOf(), dayOf('numeric')];

const recentMs = 3_600_000;
const momentSeconds = 10;

/** Formats the times below `root`. A repeat only changes what has changed since then, such as `5 min ago`. */
export function showLocalTimes(root: ParentNode, now = new Date()): void {
  for (const time of root.querySelectorAll<HTMLTimeElement>('time[data-form]')) {
    const at = new Date(time.dateTime);
    const text = textOf(at, time.dataset.form, now);
    if (time.textContent !== text) time.textContent = text;
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

function textOf(at: Date, form: string | undefined, now: Date): string {
  if (form === 'time') return clockToTheSecond.format(at);
  if (form === 'minute') return clock.format(at);
  if (form === 'full') return `${fullDay.format(at)}, ${clock.format(at)}`;
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
