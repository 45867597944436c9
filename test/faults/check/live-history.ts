import type { Config } from '../../../shared/base/config.ts';
import type { Ride, RideEvent, RideStatus } from '../../../shared/rides/ride-types.ts';
import { type Fault, hasSteps, overlaps } from '../faults-log.ts';
import type { FleetLog } from '../load/fleet.ts';
import type { Call } from '../load/request.ts';

/** What the drivers' side of a run is judged by. */
export interface DriverEvidence {
  rides: readonly Ride[];
  journal: readonly Call[];
  fleet: FleetLog;
  faults: readonly Fault[];
  /** When rounds are due. */
  dispatch: Config['dispatch'];
}

/** A work that a fault has met is done within so long: as for a killed worker's job, which is the slowest. */
const recoveryMs = 15_000;
/** Without a fault, what follows from a change comes within so long, also on a busy machine. */
export const promptMs = 5_000;

/** Whether no fault can have held up what was due in this time. */
export const isCalm = (faults: readonly Fault[], from: number, until: number): boolean =>
  !hasSteps(faults) && !faults.some((fault) => overlaps(fault, from - recoveryMs, until));

const statusOf = ({ body }: RideEvent): RideStatus | undefined => JSON.parse(body).status;

/** When a ride came to a status, in Unix ms. */
export const timeOf = ({ events }: Ride, ...statuses: RideStatus[]): number | undefined =>
  events.find((event) => statuses.includes(statusOf(event) as RideStatus))?.at.getTime();

/** From the accept to the end; undefined for a ride that had no driver. */
export function tripOf(ride: Ride): { from: number; until: number } | undefined {
  const from = timeOf(ride, 'driver_arriving');
  const until = timeOf(ride, 'completed', 'cancelled') ?? Number.POSITIVE_INFINITY;
  return from === undefined ? undefined : { from, until };
}

/** When a ride stopped taking offers. */
export const biddingEndOf = (ride: Ride): number =>
  Math.min(ride.biddingEndsAt.getTime(), timeOf(ride, 'driver_arriving', 'cancelled') ?? Number.POSITIVE_INFINITY);
