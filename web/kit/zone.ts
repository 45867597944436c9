import { Temporal } from 'temporal-polyfill';

/** Days and times in a time zone. Pure. */

/** The start of a day in a time zone. `midnight` is the start of the same day in UTC. */
export const startOfDay = (midnight: Date, zone: string): Date => timeOfClock(midnight, zone);

/**
 * The time at which the clocks of a zone show what the clocks of UTC show at `clock`: the first of two such times, and
 * for a time that the zone skips, the same time after the gap. Browsers read a clock in the same way.
 */
export const timeOfClock = (clock: Date, zone: string): Date =>
  new Date(plainTime(clock).toZonedDateTime(zone).epochMilliseconds);

/** Whether the clocks of a zone show a time twice, because they are set back, or skip it. `clock` is as above. */
export function clockChangeAt(clock: Date, zone: string): 'repeated' | 'skipped' | undefined {
  const plain = plainTime(clock);
  const [earlier, later] = (['earlier', 'later'] as const).map((disambiguation) =>
    plain.toZonedDateTime(zone, { disambiguation }),
  ) as [Temporal.ZonedDateTime, Temporal.ZonedDateTime];
  if (earlier.equals(later)) return undefined;
  return later.toPlainDateTime().equals(plain) ? 'repeated' : 'skipped';
}

const plainTime = (clock: Date): Temporal.PlainDateTime =>
  Temporal.PlainDateTime.from(clock.toISOString().slice(0, -1));

/** By how much a zone's clocks are ahead of UTC. */
export const offsetMs = (at: Date, zone: string): number =>
  Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(zone).offsetNanoseconds / 1e6;

/** The name of a zone's clocks at a time, such as `Central European Summer Time`. */
export function zoneName(at: Date, zone: string): string {
  const parts = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'long' }).formatToParts(at);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? zone;
}
