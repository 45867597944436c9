import { AppError } from '../base/errors.ts';
import { committedReads } from '../base/mongo/durability.ts';
import type { Mode } from '../base/terms.ts';
import { timeOf } from '../rides/events.ts';
import { rides } from '../rides/ride.ts';
import type { Actor, CancelledBy, EventName, RideEvent, RideStatus, Timer } from '../rides/ride-types.ts';
import { type AttemptKind, attemptsOfRide, type RecordedOutcome } from './attempts.ts';

/** What happened to a ride, for the operator: nobody's name, phone or address, and no URL, which may hold a secret. */
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
  erasedAt?: Date;
  timers: Timer[];
  events: HistoryEvent[];
  /** The events that were sent again by hand. */
  redeliveries: Attempted[];
}

export interface HistoryEvent {
  seq: number;
  event: EventName;
  /** Of a ride.status event whose body is not erased. */
  status?: RideStatus;
  at: Date;
  by?: Actor;
  requestId?: string;
  /** `waiting` until its attempt is over. */
  outcome: RecordedOutcome;
  httpStatus?: number;
  reason?: string;
  durationMs?: number;
}

export type Attempted = Pick<HistoryEvent, 'at' | 'outcome' | 'httpStatus' | 'reason' | 'durationMs'> & {
  attemptId: string;
  kind: AttemptKind;
  seq?: number;
};

/** All that is kept of what happened to a ride. Throws `ride_not_found`. */
export async function rideHistory(rideId: string): Promise<RideHistory> {
  const ride = await rides.findOne({ _id: rideId }, committedReads());
  if (!ride) throw new AppError('ride_not_found');
  const { keyId, accountId, mode, status, createdAt, fare, agreedPrice, driver, cancelledBy, erasedAt, timers } = ride;
  const attempts = await attemptsOfRide(rideId, { accountId });
  return {
    ...{ rideId, keyId, accountId, mode, status, createdAt, fare },
    ...(agreedPrice !== undefined && { agreedPrice }),
    ...(driver && { driverId: driver.driverId }),
    ...(cancelledBy && { cancelledBy }),
    ...(erasedAt && { erasedAt }),
    timers,
    events: ride.events.map(historyEvent),
    redeliveries: attempts
      .filter(({ kind }) => kind === 'redelivery')
      .map(({ _id: attemptId, kind, seq, at, outcome, httpStatus, reason, durationMs }) => ({
        ...{ attemptId, kind, seq, at, outcome, httpStatus, reason, durationMs },
      })),
  };
}

function historyEvent({ seq, event, at, clockAt, by, requestId, body, delivery }: RideEvent): HistoryEvent {
  const { outcome = 'waiting', httpStatus, reason, durationMs } = delivery ?? {};
  const status = body && event === 'ride.status' ? (JSON.parse(body).status as RideStatus) : undefined;
  return { seq, event, status, at: timeOf({ at, clockAt }), by, requestId, outcome, httpStatus, reason, durationMs };
}
