import type { EventName } from '../base/terms.ts';
import {
  type CancelledBy,
  type CancelReason,
  type MovingStatus,
  movingStatuses,
  type RideStatus,
} from './ride-types.ts';

interface Transition {
  from: readonly RideStatus[];
  /** `same`: the status stays. */
  to: RideStatus | 'same';
  /** The one event of this action, or null. */
  event: EventName | null;
  /** Allowed only before the bidding deadline, by MongoDB's clock. */
  beforeDeadline?: true;
  /** Allowed only before (`closed`) or after (`open`) the bidding has opened. */
  bidding?: 'closed' | 'open';
  /**
   * The setting that limits the duration of the new status, or `none` for no limit. With `keep`, all timers of the ride
   * stay; otherwise a change of status drops all timers except `driver`.
   */
  timers: 'keep' | 'pickupTimeoutMs' | 'tripTimeoutMs' | 'none';
}

/** THE lifecycle table (contract, section 3): only these actions change a ride's status. Pure. */
export const transitions = {
  open: { from: ['bidding'], to: 'bidding', event: null, bidding: 'closed', timers: 'keep' },
  offer: {
    from: ['bidding'],
    to: 'bidding',
    event: 'offer.received',
    beforeDeadline: true,
    bidding: 'open',
    timers: 'keep',
  },
  withdrawOffer: { from: ['bidding'], to: 'bidding', event: null, timers: 'keep' },
  raiseFare: { from: ['bidding'], to: 'bidding', event: null, beforeDeadline: true, timers: 'keep' },
  change: {
    from: ['bidding', 'driver_arriving', 'arrived', 'in_progress'],
    to: 'same',
    event: null,
    timers: 'keep',
  },
  tellDriver: {
    from: movingStatuses,
    to: 'same',
    event: null,
    timers: 'keep',
  },
  accept: {
    from: ['bidding'],
    to: 'driver_arriving',
    event: 'ride.status',
    beforeDeadline: true,
    timers: 'pickupTimeoutMs',
  },
  arrive: { from: ['driver_arriving'], to: 'arrived', event: 'ride.status', timers: 'pickupTimeoutMs' },
  start: { from: ['arrived'], to: 'in_progress', event: 'ride.status', timers: 'tripTimeoutMs' },
  complete: { from: ['in_progress'], to: 'completed', event: 'ride.status', timers: 'none' },
  cancel: {
    from: ['bidding', 'driver_arriving', 'arrived', 'in_progress'],
    to: 'cancelled',
    event: 'ride.status',
    timers: 'none',
  },
} as const satisfies Record<string, Transition>;

export type RideAction = keyof typeof transitions;

export const transitionOf = (action: RideAction): Transition => transitions[action];

/** The final statuses: no action leaves them. */
export const endedStatuses: RideStatus[] = ['completed', 'cancelled'];

export const hasEnded = (status: RideStatus): boolean => endedStatuses.includes(status);

/** True from the assignment of a driver to the end: then a ride has a live location (contract, section 2.1). */
export const isMoving = (status: RideStatus): status is MovingStatus =>
  (movingStatuses as readonly RideStatus[]).includes(status);

/** Why a ride in this status times out. */
const timeoutReasons: Partial<Record<RideStatus, CancelReason>> = {
  bidding: 'no_offers',
  driver_arriving: 'no_progress',
  arrived: 'no_show',
  in_progress: 'no_progress',
};

/** Why a ride is cancelled, by the party that cancels it and by its status before that. Pure. */
export const cancelReasonOf = (by: CancelledBy, status: RideStatus): CancelReason =>
  by === 'timeout' ? (timeoutReasons[status] ?? 'no_progress') : by;
