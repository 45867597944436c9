/** Days in the reader's time zone, for the filters of lists. Pure. */

/** The name if it is a known time zone, otherwise UTC: without scripts, times are shown in UTC. */
export function zoneOf(name: string): string {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return 'UTC';
  }
}

/** The start of a day in a time zone. `midnight` is the start of the same day in UTC. */
export function startOfDay(midnight: Date, zone: string): Date {
  const utc = midnight.getTime();
  const guess = utc - offsetMs(utc, zone);
  // The offset may differ at the guess, if clocks are changed on that day.
  const start = utc - offsetMs(guess, zone);
  // Some zones skip midnight: then neither time has the offset that led to it, and the day starts at the later one.
  const isSkipped = offsetMs(start, zone) !== offsetMs(guess, zone);
  return new Date(isSkipped ? Math.max(guess, start) : start);
}

/** By how much a zone's clocks are ahead of UTC. */
function offsetMs(at: number, zone: string): number {
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const parts = new Map(clock.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second')) - at;
}
