import type { ListedRide } from '../../../shared/rides/list-rides.ts';
import { biddingSince, waitsToOpen } from '../../../shared/rides/opening.ts';
import { hasEnded } from '../../../shared/rides/transitions.ts';
import { counted, ModePill, Time } from '../../../web/kit/facts.tsx';
import { ridePath } from '../../../web/kit/paths.ts';
import { nameOf } from '../../../web/kit/rides-table.tsx';

/** The reason why a ride needs a person now. */
export interface Concern {
  ride: ListedRide;
  text: string;
  /** The end of the time in which something can be done. */
  until?: Date;
}

/** A passenger who has not come out after this time should be called. */
const longWaitMs = 5 * 60_000;
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

function concernOf(ride: ListedRide, now: number): Omit<Concern, 'ride'> | null {
  const { status, statusAt, mode, missed } = ride;
  if (hasEnded(status) && now - statusAt.getTime() > recentMs) return null;
  const concern = status === 'cancelled' && mode === 'test' ? null : concernOfTrip(ride, now);
  if (concern || status === 'bidding') return concern;
  return missed.length > 0 ? { text: `${counted(missed.length, 'event')} did not arrive` } : null;
}

type Trip = Pick<
  ListedRide,
  | 'status'
  | 'statusAt'
  | 'createdAt'
  | 'biddingOpensAt'
  | 'openedAt'
  | 'biddingEndsAt'
  | 'liveOffers'
  | 'autoAccept'
  | 'cancelledBy'
  | 'agreedPrice'
  | 'replacedBy'
>;

/** The reason why the trip itself needs a person at a time (Unix ms); null if it needs nobody. Pure. */
export function concernOfTrip(trip: Trip, now: number): Omit<Concern, 'ride'> | null {
  const { status, statusAt } = trip;
  const sinceMs = now - statusAt.getTime();
  if (status === 'bidding') return biddingConcern(trip, now);
  if (status === 'arrived' && sinceMs > longWaitMs) {
    return { text: `The driver has been waiting for ${durationText(sinceMs)}` };
  }
  const text = status === 'cancelled' && cancelText(trip);
  return text ? { text } : null;
}

/** `81 min`, `10 h` */
export function durationText(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
}

function biddingConcern(ride: Trip, now: number): Omit<Concern, 'ride'> | null {
  if (waitsToOpen(ride)) return null;
  const { liveOffers, autoAccept, biddingEndsAt: until } = ride;
  const leftMs = until.getTime() - now;
  if (leftMs <= 0) return null;
  if (liveOffers > 0) {
    return { text: counted(liveOffers, 'offer') + choiceText(autoAccept), until };
  }
  return leftMs < (until.getTime() - biddingSince(ride).getTime()) / 2 ? { text: 'No offer yet', until } : null;
}

function choiceText(autoAccept: ListedRide['autoAccept']): string {
  if (!autoAccept) return ' to choose from';
  return autoAccept.waitSeconds ? ', none accepted automatically yet' : ', none within the limits of auto-accept';
}

/** Null if nobody needs to act: the partner cancelled, or another ride replaces this one. */
function cancelText({ cancelledBy, agreedPrice, replacedBy }: Trip): string | null {
  if (cancelledBy === 'driver') return replacedBy ? null : 'The driver cancelled';
  if (cancelledBy !== 'timeout') return null;
  return agreedPrice === undefined
    ? 'Cancelled: no offer was accepted in time'
    : 'Cancelled: the trip made no progress';
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
