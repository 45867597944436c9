import { AppError } from '../base/errors.ts';
import { committedReads } from '../base/mongo/durability.ts';
import { pick } from '../base/pick.ts';
import type { EventName, Mode } from '../base/terms.ts';
import type { MessageRow } from '../messages/message-row.ts';
import { messagesOfRide, type ShownMessage } from '../messages/stored-messages.ts';
import { partnersRequestId, timeOf } from '../rides/events.ts';
import { rides } from '../rides/ride.ts';
import type {
  Actor,
  CancelledBy,
  CancelReason,
  Offer,
  Origin,
  Ride,
  RideEvent,
  RideStatus,
  Timer,
} from '../rides/ride-types.ts';
import { type AttemptKind, type AttemptRecord, attemptsOfRide, type RecordedOutcome } from './attempts.ts';

/** An attempt without the claim of its worker. */
export type ShownAttempt = Omit<AttemptRecord, 'claim'>;

/** One attempt of an event: its automatic attempt, or a resend. */
export interface EventDelivery {
  /** Identifies this attempt in the URL of the ride's page. */
  id: string;
  outcome: RecordedOutcome;
  at: Date;
  event: RideEvent;
  /** The record of the attempt. It is stored separately from the ride, and a crash may lose it. */
  attempt?: ShownAttempt;
  /** `sending`: the attempt is being made. `behind`: earlier events of the ride must be sent first. */
  own?: 'sending' | 'behind' | 'recorded';
  /** True if the outcome was recorded a moment ago, so that a missing `attempt` may still be inserted. */
  isFresh?: boolean;
}

/** Something that happened to a ride. */
export interface HistoryEntry extends Partial<Origin> {
  /** Unique within the ride. Identifies this entry in the URL of the ride's page. */
  id: string;
  kind: 'created' | 'offer' | 'withdrawal' | 'raise' | 'change' | 'status' | 'message' | 'note' | 'help' | 'rating';
  at: Date;
  offer?: Offer;
  /** The new status of an entry whose kind is `status`. */
  status?: RideStatus;
  /** The names of the fields that changed. */
  fields?: string[];
  /** The text message of an entry whose kind is `message`. */
  message?: ShownMessage;
  /** When the driver saw the message of an entry whose kind is `note`. */
  seenAt?: Date;
  /** The event that was sent, and every attempt to deliver it, oldest first. */
  event?: RideEvent;
  deliveries: EventDelivery[];
}

/** The fields of a ride from which its history is derived. */
type RideWithHistory = Pick<
  Ride,
  | 'createdAt'
  | 'origin'
  | 'mode'
  | 'status'
  | 'offers'
  | 'events'
  | 'settledSeq'
  | 'cancelledBy'
  | 'fareRaisedAt'
  | 'changes'
  | 'driverNotes'
  | 'helpAskedAt'
  | 'rating'
>;

/** The history of a ride as of `now` (Unix ms), oldest entry first, with all attempts of each event and
 * the text messages. Pure. */
export function historyOf(
  ride: RideWithHistory,
  attempts: readonly ShownAttempt[],
  now: number,
  messages: readonly ShownMessage[] = [],
): HistoryEntry[] {
  const created: HistoryEntry = { id: 'created', kind: 'created', at: ride.createdAt, ...ride.origin, deliveries: [] };
  const texts = messages.map((message): HistoryEntry => {
    return {
      id: `message-${message.kind}-${message.person}`,
      kind: 'message',
      at: message.createdAt,
      message,
      deliveries: [],
    };
  });
  const later = [
    ...eventEntries(ride, attempts, now),
    ...withdrawals(ride),
    ...lastRaise(ride),
    ...changesOf(ride),
    ...notesOf(ride),
    ...helpOf(ride),
    ...ratingEntry(ride),
    ...texts,
  ];
  return [created, ...later.sort((a, b) => a.at.getTime() - b.at.getTime())];
}

/** An entry for each event, in order. */
function eventEntries(ride: RideWithHistory, attempts: readonly ShownAttempt[], now: number): HistoryEntry[] {
  const lastStatus = ride.events.findLast(({ event }) => event === 'ride.status');
  let offersSeen = 0;
  let statusesSeen = 0;
  return ride.events.map((event) => {
    const { by } = event;
    const at = timeOf(event);
    const common = {
      ...{ id: `event-${event.seq}`, at, event, requestId: partnersRequestId(event) },
      deliveries: deliveriesOf(ride, event, attempts, now),
    };
    // An offer is added, or the status changed, in the same write as its event. Therefore offers and statuses have the
    // order of their events.
    if (event.event === 'offer.received') {
      return { ...common, kind: 'offer', offer: ride.offers[offersSeen++], by };
    }
    const next = statusesOfTrip[statusesSeen++];
    const status = next && event !== lastStatus ? next : ride.status;
    return { ...common, kind: 'status', status, by };
  });
}

const statusesOfTrip: readonly RideStatus[] = ['driver_arriving', 'arrived', 'in_progress', 'completed'];

const withdrawals = (ride: RideWithHistory): HistoryEntry[] =>
  ride.offers.flatMap((offer) =>
    offer.withdrawnAt
      ? {
          ...{ id: `withdrawn-${offer.offerId}`, kind: 'withdrawal', at: offer.withdrawnAt },
          ...{ offer, by: driverOf(ride), deliveries: [] },
        }
      : [],
  );

/** The entry for the last raise of the fare. Earlier raises are not stored. */
const lastRaise = ({ fareRaisedAt: at }: RideWithHistory): HistoryEntry[] =>
  at ? [{ id: 'raised', kind: 'raise', at, by: 'partner', deliveries: [] }] : [];

const changesOf = ({ changes = [] }: RideWithHistory): HistoryEntry[] =>
  changes.map((change) => ({ id: `change-${change.at.getTime()}`, kind: 'change', ...change, deliveries: [] }));

/** The messages to the driver. Their texts are with the facts of the ride. */
const notesOf = ({ driverNotes = [] }: RideWithHistory): HistoryEntry[] =>
  driverNotes.map(({ number, at, by, requestId, seenAt }) => ({
    ...{ id: `note-${number}`, kind: 'note', at, by, requestId, seenAt },
    deliveries: [],
  }));

const helpOf = ({ helpAskedAt = [] }: RideWithHistory): HistoryEntry[] =>
  helpAskedAt.map((at) => ({ id: `help-${at.getTime()}`, kind: 'help', at, deliveries: [] }));

const ratingEntry = ({ rating }: RideWithHistory): HistoryEntry[] =>
  rating ? [{ id: 'rating', kind: 'rating', at: rating.at, deliveries: [] }] : [];

const driverOf = ({ mode }: Pick<Ride, 'mode'>): Actor => (mode === 'test' ? 'simulator' : 'driver');

/** An outcome is fresh for this long: its attempt is inserted shortly after it is recorded on the ride. */
const freshMs = 5_000;

function deliveriesOf(
  ride: RideWithHistory,
  event: RideEvent,
  attempts: readonly ShownAttempt[],
  now: number,
): EventDelivery[] {
  const made = attempts.filter(({ seq }) => seq === event.seq);
  const { delivery, seq } = event;
  const id = `delivery-${seq}`;
  const own: EventDelivery = delivery
    ? {
        ...{ id, outcome: delivery.outcome, at: delivery.at, event, own: 'recorded' },
        // Compares the times too: if the event was attempted twice, only one of the attempts has the recorded outcome.
        attempt: made.find(
          ({ kind, at, endpointId }) => kind === 'event' && !endpointId && at.getTime() === delivery.at.getTime(),
        ),
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

/** A ride's history for the operator, without names, phones, addresses and URLs (a URL may contain a secret). */
export interface RideHistory {
  rideId: string;
  keyId: string;
  accountId: string;
  mode: Mode;
  status: RideStatus;
  createdAt: Date;
  fare: number;
  agreedPrice?: number;
  driverId?: string;
  cancelledBy?: CancelledBy;
  cancelReason?: CancelReason;
  /** The ids of the next and of the previous ride, after a driver cancelled. */
  replacedBy?: string;
  replaces?: string;
  erasedAt?: Date;
  timers: Timer[];
  events: HistoryEvent[];
  redeliveries: RedeliveryEntry[];
  messages: MessageEntry[];
}

/** A text message, with the id of its number instead of the number. */
export interface MessageEntry extends Pick<MessageRow, 'kind' | 'person' | 'state' | 'reason'> {
  messageId: string;
  at: Date;
  numberId?: string;
}

interface HistoryEvent {
  seq: number;
  event: EventName;
  /** For a `ride.status` event whose body is not erased. */
  status?: RideStatus;
  at: Date;
  by?: Actor;
  requestId?: string;
  /** `waiting` until the redelivery's attempt is finished. */
  outcome: RecordedOutcome;
  httpStatus?: number;
  reason?: string;
  durationMs?: number;
}

/** A resend, or the attempt of an event for a further endpoint. */
type RedeliveryEntry = Pick<HistoryEvent, 'at' | 'outcome' | 'httpStatus' | 'reason' | 'durationMs'> & {
  attemptId: string;
  kind: AttemptKind;
  endpointId?: string;
  seq?: number;
};

/** `resend`, or `copy to endpoint_...` for the attempt of an event for a further endpoint. */
export const redeliveryWords = ({ kind, endpointId }: Pick<RedeliveryEntry, 'kind' | 'endpointId'>): string =>
  (kind === 'event' ? 'copy' : 'resend') + (endpointId ? ` to ${endpointId}` : '');

/** Reads the history of a ride for the operator. Throws `ride_not_found`. */
export async function rideHistory(rideId: string): Promise<RideHistory> {
  const ride = await rides.findOne({ _id: rideId }, committedReads());
  if (!ride) throw new AppError('ride_not_found');
  const [attempts, messages] = await Promise.all([
    attemptsOfRide(rideId, pick(ride, 'accountId')),
    messagesOfRide(rideId),
  ]);
  return {
    rideId,
    ...pick(ride, 'keyId', 'accountId', 'mode', 'status', 'createdAt', 'fare', 'agreedPrice'),
    ...(ride.driver && { driverId: ride.driver.driverId }),
    ...pick(ride, 'cancelledBy', 'cancelReason', 'replacedBy', 'replaces', 'erasedAt', 'timers'),
    events: eventEntries(ride, [], 0).map(historyEvent),
    redeliveries: attempts
      .filter(({ kind, endpointId }) => kind === 'redelivery' || endpointId)
      .map(({ _id: attemptId, kind, endpointId, seq, at, outcome, httpStatus, reason, durationMs }) => ({
        ...{ attemptId, kind, endpointId, seq, at, outcome, httpStatus, reason, durationMs },
      })),
    messages: messages.map(({ _id: messageId, createdAt: at, kind, person, state, reason, number }) => ({
      ...{ messageId, at, kind, person, state },
      ...(reason && { reason }),
      ...(number && { numberId: number }),
    })),
  };
}

function historyEvent({ event: sent, at, status }: HistoryEntry): HistoryEvent {
  const { seq, event, by, requestId, body, delivery } = sent as RideEvent;
  const { outcome = 'waiting', httpStatus, reason, durationMs } = delivery ?? {};
  const shown = body ? status : undefined;
  return { seq, event, status: shown, at, by, requestId, outcome, httpStatus, reason, durationMs };
}
