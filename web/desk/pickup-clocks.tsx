import type { Place } from '../../shared/accounts/account.ts';
import { zoneAt, zoneOf } from '../../shared/base/place-zone.ts';
import { ZonedTime } from '../kit/facts.tsx';
import { renderHtml } from '../kit/render.ts';
import { clockChangeAt, offsetMs, timeOfClock } from '../kit/zone.ts';
import { type BookingValues, pickupClockIn } from './booking-values.ts';
import { isOnEarth } from './coordinates.ts';
import { placeIn } from './trip-places.ts';

interface Typed {
  values: BookingValues;
  places: readonly Place[];
}

/**
 * The pickup time on the clocks of the pickup, if they differ from the reader's, and for which time a ride is booked
 * that the reader's clocks show twice or skip. Otherwise empty.
 */
export function PickupClocks({ values, places }: Typed) {
  const clock = pickupClockIn(values);
  if (!clock) return null;
  const zone = zoneOf(values.zone);
  const at = timeOfClock(clock, zone);
  const change = clockChangeAt(clock, zone);
  const pickup = placeIn(values.from, values.fromPoint, places);
  const pickupZone = pickup && isOnEarth(pickup) ? zoneAt(pickup) : zone;
  return (
    <>
      {change && (
        <span class="sub">
          {change === 'repeated'
            ? 'Your clocks show this time twice. The ride is booked for the first: '
            : 'Your clocks skip this time. The ride is booked for '}
          <ZonedTime at={at} zone={zone} />.{' '}
        </span>
      )}
      {offsetMs(at, pickupZone) !== offsetMs(at, zone) && (
        <span class="sub">
          At the pickup: <ZonedTime at={at} zone={pickupZone} />.
        </span>
      )}
    </>
  );
}

/** The same for the form's script. */
export const pickupClocksHtml = (typed: Typed): string => renderHtml(<PickupClocks {...typed} />);
