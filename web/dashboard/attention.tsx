import type { ListedRide } from '../../shared/rides/list-rides.ts';
import { hasEnded } from '../../shared/rides/transitions.ts';
import { counted, ModePill, Time } from '../kit/facts.tsx';
import { ridePath } from '../kit/paths.ts';
import { concernOfTrip, nameOf, type TripConcern } from '../kit/ride-words.ts';

/** The reason why a ride needs a person now. */
export interface Concern extends TripConcern {
  ride: ListedRide;
}

/** A ride that ended longer ago has been noticed, or is no longer needed. */
export const recentMs = 60 * 60_000;

/** The rides that need a person at a time (Unix ms), each once, live ones first. Pure. */
export function concernsOf(rides: readonly ListedRide[], now: number): Concern[] {
  const unique = [...new Map(rides.map((ride) => [ride._id, ride])).values()];
  const concerns = unique.flatMap((ride) => {
    const found = concernOf(ride, now);
    return found ? { ride, ...found } : [];
  });
  return concerns.sort((a, b) => Number(a.ride.mode === 'test') - Number(b.ride.mode === 'test'));
}

function concernOf(ride: ListedRide, now: number): TripConcern | null {
  const { status, statusAt, mode, missed } = ride;
  if (hasEnded(status) && now - statusAt.getTime() > recentMs) return null;
  const concern = status === 'cancelled' && mode === 'test' ? null : concernOfTrip(ride, now);
  if (concern || status === 'bidding') return concern;
  return missed.length > 0 ? { text: `${counted(missed.length, 'event')} did not arrive` } : null;
}

export function ConcernList({ concerns }: { concerns: readonly Concern[] }) {
  return (
    <ul class="attention">
      {concerns.map(({ ride, text, until }) => (
        <li key={ride._id} id={`concern-${ride._id}`}>
          <a href={ridePath(ride._id)}>{nameOf(ride)}</a>
          {ride.mode === 'test' && <ModePill mode="test" />}
          <span>
            {text}
            {until && (
              <>
                , until <Time at={until} form="minute" />
              </>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
