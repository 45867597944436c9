import { fromBase62, toBase62 } from '../../shared/base/ids.ts';
import type { Place } from '../../shared/rides/feed/event-feed.ts';

/** A cursor that stands for this moment: only later events follow it. */
export const now = 'now';

/** A time, and the end of a ride's id, which is empty where the cursor came from `now`. */
export const cursorForm = /^(now|cur_[0-9A-Za-z]{8}([0-9A-Za-z]{24})?)$/;

/** A place in the feed as an opaque text. */
export const cursorOf = (place: Place | null): string | null =>
  place && `cur_${toBase62(place.at, 8)}${place.rideId.replace(/^ride_/, '')}`;

export function placeIn(cursor: string | undefined): Place | null {
  if (cursor === undefined) return null;
  const ride = cursor.slice(12);
  return { at: fromBase62(cursor.slice(4, 12)), rideId: ride && `ride_${ride}` };
}
