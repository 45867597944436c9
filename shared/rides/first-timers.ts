import type { Config } from '../base/config.ts';
import { wideCellsAt } from '../drivers/cells.ts';
import type { RideState, Timer } from './ride-types.ts';
import { simulatedTimers } from './simulation.ts';

type Timing = Pick<Config, 'biddingTimeoutMs' | 'scheduleLeadMs' | 'simulationSpeed'>;

/** The fields and timers of a new ride. A ride for later only waits for its opening; others open now. Pure. */
export function firstFields(
  ride: Pick<RideState, 'mode' | 'scenario' | 'pickup' | 'pickupAt'>,
  now: Date,
  timing: Timing,
): Pick<RideState, 'biddingOpensAt' | 'openedAt' | 'biddingEndsAt' | 'pickupCells' | 'timers'> {
  const { pickupAt } = ride;
  if (!pickupAt) return openedFields(ride, now, timing);
  const planned = new Date(pickupAt.getTime() - timing.scheduleLeadMs);
  if (planned <= now) return { biddingOpensAt: now, openedAt: now, ...openedFields(ride, now, timing) };
  return {
    biddingOpensAt: planned,
    biddingEndsAt: new Date(planned.getTime() + timing.biddingTimeoutMs),
    timers: [{ name: 'open', dueAt: planned }],
  };
}

/** The end of the bidding, the cells for free drivers and the timers of a ride that opens now. Pure. */
export function openedFields(
  ride: Pick<RideState, 'mode' | 'scenario' | 'pickup'>,
  now: Date,
  timing: Timing,
): Pick<RideState, 'biddingEndsAt' | 'pickupCells' | 'timers'> {
  const biddingEndsAt = new Date(now.getTime() + timing.biddingTimeoutMs);
  const timers: Timer[] = [
    { name: 'expire', dueAt: biddingEndsAt },
    ...(ride.mode === 'live' ? [{ name: 'dispatch', dueAt: now } as const] : []),
    ...simulatedTimers(ride, 'create', now, timing),
  ];
  return { biddingEndsAt, ...(ride.mode === 'live' && { pickupCells: wideCellsAt(ride.pickup) }), timers };
}
