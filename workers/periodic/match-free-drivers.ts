import type { Config } from '../../shared/base/config.ts';
import type { Context } from '../../shared/base/context.ts';
import { haversineKm } from '../../shared/base/great-circle.ts';
import { wideCellsAround } from '../../shared/drivers/cells.ts';
import { canCarry } from '../../shared/drivers/nearby.ts';
import type { DriverPosition } from '../../shared/drivers/positions.ts';
import { wantsOffers } from '../../shared/rides/offers.ts';
import { findOpenRides, type OpenRide } from '../../shared/rides/open-rides.ts';
import { presentRadiusKm, radiusKmOf } from '../dispatch.ts';

/** Finds the open rides that drivers who have become available may get (free-drivers.ts). */

/** A ride is opened to free drivers at most twice a second, so that many of them cause few changes of the ride. */
const perRideMs = 500;
/** One turn compares at most this many pairs of a driver and a ride, and leaves the other drivers to the next turn. */
const maxPairs = 250_000;
/** A cell is at most this long, so a driver in it may enter the radius of a ride without leaving the cell. */
const cellKm = 0.6;
/** A round that has been due for longer than this is not running: its pool hangs. */
const longestRoundMs = 10_000;
/**
 * A round that is just running may have read the positions before the driver became available. A mark that is this much
 * older than the round was visible to it.
 */
const longestWriteMs = 1_000;

export const freeFields = {
  lat: 1,
  lng: 1,
  carType: 1,
  seats: 1,
  equipment: 1,
  available: 1,
  seenAt: 1,
  requests: 1,
  freeSince: 1,
  freeFrom: 1,
  isFull: 1,
} as const;
export type FreeDriver = Pick<DriverPosition, '_id' | keyof typeof freeFields>;

/** A ride that fits a driver within its present radius. */
export interface Pair {
  ride: OpenRide;
  driverId: string;
  km: number;
}

/** The drivers whom a ride reaches, and those whom it has passed over. */
interface Reach {
  ride: OpenRide;
  radiusKm: number;
  /** The radius of the round that is just running, which began at `roundAt`; otherwise the present radius. */
  nextKm: number;
  roundAt: number;
  wasJustOpened: boolean;
  passed: ReadonlySet<string>;
}

function reachOf(rounds: Config['dispatch'], ride: OpenRide, now: Date): Reach {
  const radiusKm = presentRadiusKm(rounds, ride);
  const roundAt = ride.timers.find(({ name }) => name === 'dispatch')?.dueAt.getTime() ?? Number.POSITIVE_INFINITY;
  const lateMs = now.getTime() - roundAt;
  return {
    ride,
    radiusKm,
    nextKm: lateMs >= 0 && lateMs < longestRoundMs ? radiusKmOf(rounds, ride, ride.rounds ?? 0) : radiusKm,
    roundAt,
    wasJustOpened: isJustOpened(ride, now),
    passed: new Set([...(ride.asked ?? []), ...(ride.excludedDrivers ?? [])]),
  };
}

/**
 * Finds the rides around these drivers that each of them may get. `atEdge`: a ride's radius ends close to the driver.
 * `later`: the driver must be served again in a later turn.
 */
export async function findPairs(ctx: Context, drivers: readonly FreeDriver[], now: Date) {
  const { dispatch } = ctx.config;
  const atEdge = new Set<string>();
  const later = new Set<string>();
  const pairs: Pair[] = [];
  const largestKm = Math.max(...dispatch.rounds.map(({ radiusKm }) => radiusKm)) + cellKm;
  const around = drivers.map((driver) => ({ driver, cells: wideCellsAround(driver, largestKm) }));
  const cells = new Set(around.flatMap((each) => each.cells));
  const found = cells.size > 0 ? await findOpenRides([...cells], now) : [];
  const byCell = new Map<number, Reach[]>([...cells].map((cell) => [cell, []]));
  for (const ride of found.filter(wantsOffers)) {
    const reach = reachOf(dispatch, ride, now);
    for (const cell of ride.pickupCells ?? []) byCell.get(cell)?.push(reach);
  }
  let compared = 0;
  for (const { driver, cells } of around) {
    const near = cells.flatMap((cell) => byCell.get(cell) ?? []);
    compared += near.length;
    if (compared > maxPairs && compared > near.length) {
      later.add(driver._id);
      continue;
    }
    for (const { ride, radiusKm, nextKm, roundAt, wasJustOpened, passed } of near) {
      const km = haversineKm(ride.pickup, driver);
      if (km > Math.max(nextKm, radiusKm) + cellKm) continue;
      if (driver.freeFrom && haversineKm(ride.pickup, driver.freeFrom) <= radiusKm) continue;
      if (passed.has(driver._id) || !fits(ride, driver)) continue;
      const mayBeMissed = roundAt - (driver.freeSince?.getTime() ?? 0) < longestWriteMs;
      if (km <= radiusKm && !wasJustOpened) pairs.push({ ride, driverId: driver._id, km });
      else if (km <= (mayBeMissed ? nextKm : radiusKm)) later.add(driver._id);
      else atEdge.add(driver._id);
    }
  }
  return { pairs, atEdge, later };
}

const fits = (ride: OpenRide, driver: FreeDriver): boolean =>
  (ride.carType === 'regular' || ride.carType === driver.carType) && canCarry(ride, driver);

export const isJustOpened = ({ openedToFreeAt }: Pick<OpenRide, 'openedToFreeAt'>, now: Date): boolean =>
  openedToFreeAt !== undefined && Math.abs(now.getTime() - openedToFreeAt.getTime()) < perRideMs;
