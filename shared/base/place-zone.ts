import lookUpZone from '@photostructure/tz-lookup';
import type { Point } from './great-circle.ts';

/** The name if it is a known time zone, otherwise UTC: without scripts, times are shown in UTC. */
export function zoneOf(name: string): string {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return 'UTC';
  }
}

/** The time zone of a place. Throws for a place that is not on Earth. */
export const zoneAt = ({ lat, lng }: Point): string => zoneOf(lookUpZone(lat, lng));
