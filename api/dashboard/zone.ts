/** Days and times in the reader's time zone. Pure. */

/** The name if it is a known time zone, otherwise UTC: without scripts, times are shown in UTC. */
export function zoneOf(name: string): string {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return 'UTC';
  }
}

/** The start of a day in a time zone. `midnight` is the start of the same day in UTC. */
export const startOfDay = (midnight: Date, zone: string): Date => timeOfClock(midnight, zone);

/**
 * The time at which the clocks of a zone show what the clocks of UTC show at `clock`. For a time that the zone skips,
 * the time after the gap.
 */
export function timeOfClock(clock: Date, zone: string): Date {
  const utc = clock.getTime();
  const guess = utc - offsetMs(utc, zone);
  // The offset may differ at the guess, if clocks are changed on that day.
  const start = utc - offsetMs(guess, zone);
  // Clocks that are set forward skip times: then neither time has the offset that led to it, and the later one is after the gap.
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
