import type { Config } from '../../../shared/base/config.ts';
import type { Ride, RideEvent, RideStatus } from '../../../shared/rides/ride-types.ts';
import { scaled } from '../../support/machine-speed.ts';
import { type Fault, overlaps } from '../faults-log.ts';
import type { FleetLog } from '../load/fleet.ts';
import type { Call } from '../load/request.ts';

/** The evidence for the drivers' side of a run. */
export interface DriverEvidence {
  rides: readonly Ride[];
  journal: readonly Call[];
  fleet: FleetLog;
  faults: readonly Fault[];
  /** When dispatch rounds are due. */
  dispatch: Config['dispatch'];
}

// The suite runs with these times; its own tests give a slow machine longer.

/** Work that a fault interrupts is done within this time. The slowest case is the job of a killed worker. */
const recoveryMs = 15_000;
/** Without a fault, the service reacts to a change within this time, even on a busy machine. */
export const promptMs = scaled(5_000);
/** Without a fault, a driver who becomes available has every open ride nearby within this time. */
export const openedToFreeMs = scaled(2_000);

/** Whether no fault can have delayed work that was due in this time. */
export const isCalm = (faults: readonly Fault[], from: number, until: number): boolean =>
  !faults.some((fault) => overlaps(fault, from - recoveryMs, until));

const statusOf = ({ body }: RideEvent): RideStatus | undefined => JSON.parse(body).status;

/** When a ride first reached one of the statuses, in Unix ms. */
export const timeOf = ({ events }: Ride, ...statuses: RideStatus[]): number | undefined =>
  events.find((event) => statuses.includes(statusOf(event) as RideStatus))?.at.getTime();

/** The time from the accept to the end of the ride; undefined for a ride without a driver. */
export function tripOf(ride: Ride): { from: number; until: number } | undefined {
  const from = timeOf(ride, 'driver_arriving');
  const until = timeOf(ride, 'completed', 'cancelled') ?? Number.POSITIVE_INFINITY;
  return from === undefined ? undefined : { from, until };
}

/** When a ride began to accept offers; never for a ride for later that ended before its opening. */
export const biddingStartOf = ({ createdAt, biddingOpensAt, openedAt }: Ride): number =>
  (openedAt ?? (biddingOpensAt ? undefined : createdAt))?.getTime() ?? Number.POSITIVE_INFINITY;

/** When a ride stopped accepting offers. */
export const biddingEndOf = (ride: Ride): number =>
  Math.min(ride.biddingEndsAt.getTime(), timeOf(ride, 'driver_arriving', 'cancelled') ?? Number.POSITIVE_INFINITY);
