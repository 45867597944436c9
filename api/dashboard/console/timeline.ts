import type { TimerName } from '../../../shared/base/terms.ts';
import { timeOf } from '../../../shared/rides/events.ts';
import type { Delivery, EventName, Offer, RideEvent, RideStatus } from '../../../shared/rides/ride-types.ts';
import { hasEnded } from '../../../shared/rides/transitions.ts';
import type { ConsoleRide } from './console-ride.ts';

/** Something that happened to a ride. */
export interface Entry {
  /** Unlike that of any other entry of the ride. */
  key: string;
  /** Unix ms. */
  at: number;
  title: string;
  detail: string;
  /** The event that was sent of it, and how its delivery ended, if it has. */
  event?: { name: EventName; seq: number; delivery?: Delivery };
}

export type TimelineRide = Pick<
  ConsoleRide,
  | 'createdAt'
  | 'fare'
  | 'firstFare'
  | 'fareRaisedAt'
  | 'distanceKm'
  | 'offers'
  | 'events'
  | 'status'
  | 'agreedPrice'
  | 'driver'
  | 'cancelledBy'
  | 'timers'
>;

/** All that has happened to a ride, oldest first. `money` writes an amount. Pure. */
export function timelineOf(ride: TimelineRide, money: (usd: number) => string): Entry[] {
  const requested: Entry = {
    key: 'requested',
    at: ride.createdAt.getTime(),
    title: 'Ride requested',
    detail: `${money(ride.firstFare ?? ride.fare)} for ${ride.distanceKm.toFixed(1)} km`,
  };
  const withdrawn = ride.offers.flatMap((offer) => withdrawal(offer, money) ?? []);
  const told = ride.events.map((event) => toldBy(event, ride, money));
  return [requested, ...[...told, ...withdrawn, ...raise(ride, money)].sort((a, b) => a.at - b.at)];
}

/** The last raise of the fare; the ones before it are not kept. */
const raise = ({ fare, fareRaisedAt }: TimelineRide, money: (usd: number) => string): Entry[] =>
  fareRaisedAt
    ? [{ key: 'raised', at: fareRaisedAt.getTime(), title: 'Fare raised', detail: `To ${money(fare)}` }]
    : [];

function withdrawal({ offerId, withdrawnAt, driver, price }: Offer, money: (usd: number) => string): Entry | null {
  if (!withdrawnAt) return null;
  return {
    key: `withdrawn-${offerId}`,
    at: withdrawnAt.getTime(),
    title: 'Offer withdrawn',
    detail: `${driver.name}, ${money(price)}`,
  };
}

function toldBy(
  { seq, event, at, clockAt, body, delivery }: RideEvent,
  ride: TimelineRide,
  money: (usd: number) => string,
): Entry {
  const { offer, status } = JSON.parse(body) as { offer?: Offer; status: RideStatus };
  return {
    key: `event-${seq}`,
    at: timeOf({ at, clockAt }).getTime(),
    event: { name: event, seq, delivery },
    ...(offer
      ? {
          title: 'Offer received',
          detail: `${offer.driver.name} for ${money(offer.price)}, ${offer.etaMinutes} min away`,
        }
      : { title: statusTitles[status], detail: statusDetail(status, ride, money) }),
  };
}

const statusTitles: Record<RideStatus, string> = {
  bidding: 'Bidding',
  driver_arriving: 'Offer accepted',
  arrived: 'Driver at the pickup',
  in_progress: 'Trip under way',
  completed: 'Trip completed',
  cancelled: 'Ride cancelled',
};

const cancelledByWords = { partner: 'By the partner', driver: 'By the driver', timeout: 'Its time was over' } as const;

function statusDetail(status: RideStatus, ride: TimelineRide, money: (usd: number) => string): string {
  if (status === 'driver_arriving') return `${ride.driver?.name} comes for ${money(ride.agreedPrice ?? ride.fare)}`;
  if (status === 'cancelled') return ride.cancelledBy ? cancelledByWords[ride.cancelledBy] : '';
  return '';
}

const stepWords: Record<TimerName, string> = {
  offer: 'A driver makes an offer',
  offer_2: 'A second driver makes an offer',
  offer_3: 'A third driver makes an offer',
  withdraw: 'The driver withdraws the offer',
  accept: 'The cheapest offer is accepted, unless you choose first',
  arrive: 'The driver reaches the pickup',
  start: 'The trip begins',
  complete: 'The trip ends',
  driver_cancel: 'The driver cancels',
  dispatch: 'More drivers are asked',
  driver: 'The driver is told',
  auto_accept: 'The first offer that fits is accepted',
  expire: 'The bidding time ends and the ride is cancelled',
  stall: 'The ride is cancelled, since it makes no progress',
};

/** What happens next by itself, and when (Unix ms); null once the ride has ended. Pure. */
export function nextStepOf({
  status,
  timers,
}: Pick<TimelineRide, 'status' | 'timers'>): { words: string; at: number } | null {
  const [next] = hasEnded(status) ? [] : timers.toSorted((a, b) => a.dueAt.getTime() - b.dueAt.getTime());
  return next ? { words: stepWords[next.name], at: next.dueAt.getTime() } : null;
}

/** How long after the ride's creation: `+2.0 s`, `+10 min`, `+2 h`. Pure. */
export function offsetText(at: number, createdAt: number): string {
  const seconds = Math.max(0, at - createdAt) / 1_000;
  if (seconds < 99.95) return `+${seconds.toFixed(1)} s`;
  if (seconds < 5_400) return `+${Math.round(seconds / 60)} min`;
  return `+${Math.round(seconds / 3_600)} h`;
}
