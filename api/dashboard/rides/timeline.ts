import { timeOf } from '../../../shared/rides/events.ts';
import type { Actor, Offer, Origin, Ride, RideEvent, RideStatus } from '../../../shared/rides/ride-types.ts';
import type { AttemptRecord, RecordedOutcome } from '../../../shared/webhooks/attempts.ts';

/** An attempt with all that a page shows of it. */
export type ShownAttempt = Omit<AttemptRecord, 'claim'>;

/** An attempt of an event: its own, or one that was asked for by hand. */
export interface EventDelivery {
  /** The entry's name in the URL. */
  id: string;
  outcome: RecordedOutcome;
  at: Date;
  event: RideEvent;
  /** What is kept beside the ride's own record; a crash may lose it. */
  attempt?: ShownAttempt;
  /** `sending`: the attempt is being made. `behind`: it waits for the events before it, as a ride's events are sent in order. */
  own?: 'sending' | 'behind' | 'recorded';
  /** The outcome is known, and `attempt` may still come. */
  isFresh?: boolean;
}

/** Something that happened to a ride. */
export interface Entry extends Partial<Origin> {
  /** Its name in the URL. */
  id: string;
  kind: 'created' | 'offer' | 'withdrawal' | 'raise' | 'status';
  at: Date;
  title: string;
  offer?: Offer;
  status?: RideStatus;
  /** The event that was sent of it, and every attempt of that event, the oldest first. */
  event?: RideEvent;
  deliveries: EventDelivery[];
}

/** All that has happened to a ride by a time (Unix ms), the oldest first, with every attempt under its event. Pure. */
export function timelineOf(ride: Ride, attempts: readonly ShownAttempt[], now: number): Entry[] {
  const created: Entry = {
    id: 'created',
    kind: 'created',
    at: ride.createdAt,
    title: 'Ride requested',
    ...ride.origin,
    deliveries: [],
  };
  let offersSeen = 0;
  let statusesSeen = 0;
  const events = ride.events.map((event): Entry => {
    const { by, requestId } = event;
    const at = timeOf(event);
    const common = { id: `event-${event.seq}`, at, event, deliveries: deliveriesOf(ride, event, attempts, now) };
    // An offer or a change of status and its event are one write, so they come in the same order.
    if (event.event === 'offer.received') {
      const offer = ride.offers[offersSeen++];
      return { ...common, kind: 'offer', title: 'Offer received', offer, by: by ?? driverOf(ride), requestId };
    }
    const next = way[statusesSeen++];
    const status = next && at < ride.statusAt ? next : ride.status;
    return {
      ...common,
      kind: 'status',
      title: statusTitles[status],
      status,
      by: by ?? actorOf(ride, status),
      requestId,
    };
  });
  const withdrawals = ride.offers.flatMap((offer): Entry[] =>
    offer.withdrawnAt
      ? [
          {
            id: `withdrawn-${offer.offerId}`,
            kind: 'withdrawal',
            at: offer.withdrawnAt,
            title: 'Offer withdrawn',
            offer,
            by: driverOf(ride),
            deliveries: [],
          },
        ]
      : [],
  );
  return [created, ...[...events, ...withdrawals, ...raiseOf(ride)].sort((a, b) => a.at.getTime() - b.at.getTime())];
}

/** The last raise of the fare; the ones before it are not kept. */
const raiseOf = ({ fareRaisedAt: at }: Ride): Entry[] =>
  at ? [{ id: 'raised', kind: 'raise', at, title: 'Fare raised', by: 'partner', deliveries: [] }] : [];

const way: readonly RideStatus[] = ['driver_arriving', 'arrived', 'in_progress', 'completed'];

const statusTitles: Record<RideStatus, string> = {
  bidding: 'Bidding',
  driver_arriving: 'Offer accepted',
  arrived: 'Driver at the pickup',
  in_progress: 'Trip under way',
  completed: 'Trip completed',
  cancelled: 'Ride cancelled',
};

const driverOf = ({ mode }: Pick<Ride, 'mode'>): Actor => (mode === 'test' ? 'simulator' : 'driver');

/** Events of rides from before these were kept name no actor; for some statuses it follows from the ride. */
function actorOf(ride: Ride, status: RideStatus): Actor | undefined {
  if (status === 'cancelled') return ride.cancelledBy === 'driver' ? driverOf(ride) : ride.cancelledBy;
  return status === 'driver_arriving' ? undefined : driverOf(ride);
}

/** The attempt of an event is inserted a moment after its outcome is recorded. */
const freshMs = 5_000;

function deliveriesOf(ride: Ride, event: RideEvent, attempts: readonly ShownAttempt[], now: number): EventDelivery[] {
  const made = attempts.filter(({ seq }) => seq === event.seq);
  const { delivery, seq } = event;
  const id = `delivery-${seq}`;
  const own: EventDelivery = delivery
    ? {
        ...{ id, outcome: delivery.outcome, at: delivery.at, event, own: 'recorded' },
        // An attempt that is kept but not recorded on the ride was made again: it is not the event's outcome.
        attempt: made.find(({ kind, at }) => kind === 'event' && at.getTime() === delivery.at.getTime()),
        isFresh: now - delivery.at.getTime() - delivery.durationMs < freshMs,
      }
    : { id, outcome: 'waiting', at: timeOf(event), event, own: seq > ride.settledSeq + 1 ? 'behind' : 'sending' };
  const others = made
    .filter((attempt) => attempt !== own.attempt)
    .map((attempt): EventDelivery => {
      return { id: `attempt-${attempt._id}`, outcome: attempt.outcome, at: attempt.at, event, attempt };
    });
  return [own, ...others].sort((a, b) => a.at.getTime() - b.at.getTime());
}

/** An entry of the timeline, or one of the attempts under it. */
export interface Chosen {
  entry: Entry;
  delivery?: EventDelivery;
}

/**
 * What the URL chooses. Without a choice, or with one that is not there: the last attempt of an event that has not arrived,
 * since that is what most come to see, or else the latest entry.
 */
export function chosenEntry(entries: readonly Entry[], id: string): Chosen {
  const all = entries.flatMap((entry): Chosen[] => [
    { entry },
    ...entry.deliveries.map((delivery): Chosen => ({ entry, delivery })),
  ]);
  const named = all.find(
    ({ entry, delivery }) =>
      (delivery ?? entry).id === id || (delivery?.attempt && `attempt-${delivery.attempt._id}` === id),
  );
  const missed = missedEvents(entries).at(-1);
  const failed = missed && { entry: missed, delivery: missed.deliveries.at(-1) };
  return named ?? failed ?? { entry: entries.at(-1) as Entry };
}

/** Whether something was to be sent and did not arrive. */
export const hasFailed = (outcome: RecordedOutcome): boolean =>
  outcome === 'failed' || outcome === 'timeout' || outcome === 'blocked';

/** Events that have not arrived by any of their attempts. */
export const missedEvents = (entries: readonly Entry[]): Entry[] =>
  entries.filter(
    ({ deliveries }) =>
      deliveries.some(({ outcome }) => hasFailed(outcome)) &&
      !deliveries.some(({ outcome }) => outcome === 'delivered'),
  );

/** Whether an answer is still to come, or what is kept of it. */
export const isWaiting = (entries: readonly Entry[]): boolean =>
  entries.some(({ deliveries }) =>
    deliveries.some(({ outcome, attempt, isFresh }) => outcome === 'waiting' || (isFresh && !attempt)),
  );
