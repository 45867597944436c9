import { etaOf, lateMs, latenessAhead, promisedArrival } from '../../shared/rides/arrival.ts';
import type { BoardRide } from '../../shared/rides/board-rides.ts';
import { matchingOffer } from '../../shared/rides/offers.ts';
import { waitsToOpen } from '../../shared/rides/opening.ts';
import { concernOfTrip, durationText } from '../kit/ride-words.ts';

/** The order of a board: what needs a person first, then what is under way, then what is for later. Pure. */

/** The groups of a board, in order. */
export const groups = ['concerns', 'now', 'later'] as const;
export type Group = (typeof groups)[number];

/** Why a ride needs a person now. The urgent kinds are first. */
const kinds = ['help', 'offers', 'late', 'lost', 'waiting', 'no-offer'] as const;

export interface BoardConcern {
  kind: (typeof kinds)[number];
  text: string;
  /** The end of the time in which something can be done. */
  until?: Date;
}

export interface PlacedRide {
  ride: BoardRide;
  group: Group;
  concern: BoardConcern | null;
  /** The expected arrival of a car that is on its way (Unix ms). */
  arrivesAt?: number;
}

/** A ride with a driver is for later until this long before its pickup. */
const soonMs = 30 * 60_000;

/** The rides in the order of the board at a time (Unix ms). */
export function placed(rides: readonly BoardRide[], now: number): PlacedRide[] {
  return rides
    .map((ride) => place(ride, now))
    .map((row) => ({ row, order: orderOf(row) }))
    .sort((a, b) => compared(a.order, b.order) || (a.row.ride._id < b.row.ride._id ? -1 : 1))
    .map(({ row }) => row);
}

function place(ride: BoardRide, now: number): PlacedRide {
  // To the minute, so that the row changes at most once a minute.
  const arrivesAt = toMinute(etaOf(ride, now)?.at);
  const concern = concernIn(ride, now);
  const group = concern ? 'concerns' : isForLater(ride, now) ? 'later' : 'now';
  return { ride, group, concern, ...(arrivesAt !== undefined && { arrivesAt }) };
}

/** A request for help needs a person for this long. */
const helpForMs = 30 * 60_000;

const toMinute = (at: number | undefined): number | undefined => at && Math.ceil(at / 60_000) * 60_000;

function concernIn(ride: BoardRide, now: number): BoardConcern | null {
  const { status, offers, helpAskedAt = [] } = ride;
  const asked = helpAskedAt.at(-1);
  if (asked && now - asked.getTime() < helpForMs) return { kind: 'help', text: 'The passenger asked for help' };
  const promised = status === 'driver_arriving' ? promisedArrival(ride) : undefined;
  if (promised !== undefined && now - promised >= lateMs) {
    return { kind: 'late', text: `The driver is ${durationText(now - promised)} late` };
  }
  const ahead = latenessAhead(ride, now);
  if (ahead !== null) return { kind: 'late', text: `The driver will be about ${durationText(ahead)} late` };
  // Auto-accept will choose it.
  if (status === 'bidding' && matchingOffer(ride)) return null;
  const liveOffers = offers.filter(({ withdrawnAt }) => !withdrawnAt).length;
  const concern = concernOfTrip({ ...ride, liveOffers }, now);
  if (!concern) return null;
  if (status === 'bidding') return { ...concern, kind: liveOffers > 0 ? 'offers' : 'no-offer' };
  return { ...concern, kind: status === 'cancelled' ? 'lost' : 'waiting' };
}

function isForLater(ride: BoardRide, now: number): boolean {
  if (ride.status === 'bidding') return waitsToOpen(ride);
  return ride.status === 'driver_arriving' && (ride.pickupAt?.getTime() ?? 0) - now > soonMs;
}

const statusOrder = ['arrived', 'driver_arriving', 'bidding', 'in_progress', 'completed', 'cancelled'] as const;

/** In a group, what is urgent or what comes soonest is first. */
function orderOf({ ride, group, concern, arrivesAt }: PlacedRide): number[] {
  const { status, statusAt, pickupAt, createdAt } = ride;
  const first = groups.indexOf(group);
  if (concern) return [first, kinds.indexOf(concern.kind), (concern.until ?? statusAt).getTime()];
  if (group === 'later') return [first, (pickupAt ?? createdAt).getTime()];
  return [first, statusOrder.indexOf(status), arrivesAt ?? createdAt.getTime()];
}

function compared(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((value, place) => value !== b[place]);
  return index < 0 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}
