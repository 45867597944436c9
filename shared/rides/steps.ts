import type { Ride, RideStatus } from './ride-types.ts';

/** A status that a ride has had, and the time since which it had it. */
export interface Step {
  status: RideStatus;
  at: Date;
}

/** The projection for `stepsOf`: the times of the status changes, without the events. */
export const stepFields = {
  status: 1,
  createdAt: 1,
  statusesAt: {
    $map: {
      input: { $filter: { input: '$events', cond: { $eq: ['$$this.event', 'ride.status'] } } },
      in: { $ifNull: ['$$this.clockAt', '$$this.at'] },
    },
  },
} as const;

export type RideWithSteps = Pick<Ride, 'status' | 'createdAt'> & { statusesAt: Date[] };

const statusOrder: readonly RideStatus[] = ['driver_arriving', 'arrived', 'in_progress', 'completed'];

/** The statuses of a ride so far, in order. Each status change has one event, so the events have the times. Pure. */
export function stepsOf({ createdAt, status, statusesAt }: RideWithSteps): Step[] {
  const last = statusesAt.length - 1;
  const passed = statusesAt.map((at, index): Step => {
    return { status: index === last ? status : (statusOrder[index] as RideStatus), at };
  });
  return [{ status: 'bidding', at: createdAt }, ...passed];
}
