import { setMaxListeners } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { suspendDriver } from '../../../shared/drivers/manage-drivers.ts';
import { resumeDriver } from '../../../shared/rides/driver/settle-driver.ts';
import { pointAt } from '../../../shared/rides/position.ts';
import { between, oneOf, type Random, seededRandom } from '../random.ts';
import type { Car, FleetDriver, World } from '../world/world.ts';
import { type DriverAtWork, type DriverCall, driverAtWork, type Sight } from './driver-at-work.ts';
import { type Pace, plannedPace } from './pace.ts';
import { pickup } from './partners.ts';
import { type Connections, closeAll, untilDone } from './request.ts';

/** A suspension of a driver. All times are Unix ms, by this machine's clock. */
export interface Suspension {
  driverId: string;
  /** When the suspension was requested. */
  askedAt: number;
  /** The driver is certainly suspended from this time until `until`, when the end of the suspension was requested. */
  from: number;
  until: number;
  /** The driver is certainly no longer suspended after this time. */
  liftedAt: number;
}

/** The drivers' own logs of their requests and of the data that they were shown. */
export interface FleetLog {
  drivers: FleetDriver[];
  calls: DriverCall[];
  sights: Sight[];
  suspensions: Suspension[];
}

export type Fleet = Awaited<ReturnType<typeof startFleet>>;

export interface FleetOptions {
  drivers?: number;
  /** Longest pause of a driver between two polls. Pauses before a step are longer. */
  pauseMs?: number;
  pace?: Pace;
  /** Drivers stay online, and nobody is suspended. */
  areConstant?: boolean;
}

/** Distances of the drivers from the pickup: some in the radius of each dispatch round. */
const distancesKm = [0.2, 1, 2.5, 5, 9, 11];
const cars: readonly [Car, ...Car[]] = [
  { carType: 'regular', seats: 4, equipment: ['pet'] },
  { carType: 'regular', seats: 6, equipment: ['pet', 'child_seat'] },
  { carType: 'comfort', seats: 4 },
  { carType: 'regular', seats: 4 },
  { carType: 'family', seats: 6, equipment: ['child_seat', 'large_luggage', 'pet'] },
];

/**
 * Starts drivers that use all API processes: they go online and offline, report positions, read their open requests by
 * polling or a stream, make and withdraw offers, and drive the rides that they get. Some are suspended for some
 * seconds, and one goes offline immediately and then only reports its position. Resolves when all have been online.
 */
export async function startFleet(
  world: World,
  random: Random,
  { drivers = 14, pauseMs = 500, pace = plannedPace, areConstant = false }: FleetOptions = {},
) {
  const connections: Connections = new Map();
  const records = await Promise.all(
    Array.from({ length: drivers }, (_, index) => world.newDriver(cars[index % cars.length] ?? cars[0])),
  );
  const log: FleetLog = { drivers: records, calls: [], sights: [], suspensions: [] };
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  const atWork = records.map((driver, index): DriverAtWork => {
    const place = pointAt(pickup, distancesKm[index % distancesKm.length] ?? 1, between(random, 0, 360));
    return driverAtWork({
      world,
      connections,
      driver,
      place,
      log,
      pauseMs,
      pace,
      random: seededRandom(Math.floor(random() * 2 ** 31)),
      streams: index % 2 === 1,
      isParked: index === 0,
      staysOnline: areConstant,
      stopping: stopping.signal,
    });
  });
  await Promise.all(atWork.map(({ ready }) => ready));
  const operator = areConstant ? undefined : suspendSome(log, random, stopping.signal);
  return {
    log,
    /** Puts every driver offline and stops. Call it when no ride is active. Further calls do nothing. */
    async stop() {
      stopping.abort();
      await operator;
      await Promise.all(atWork.map(({ done }) => done));
      closeAll(connections);
      return log;
    },
  };
}

/** Suspends a random driver every few seconds, and lifts the suspension some seconds later. */
async function suspendSome({ drivers, suspensions }: FleetLog, random: Random, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    await setTimeout(between(random, 4_000, 8_000), undefined, { signal: stopping }).catch(() => {});
    if (stopping.aborted) return;
    const { driverId } = oneOf(random, drivers);
    const suspension = {
      driverId,
      askedAt: Date.now(),
      from: Number.POSITIVE_INFINITY,
      until: Number.POSITIVE_INFINITY,
      liftedAt: Number.POSITIVE_INFINITY,
    };
    suspensions.push(suspension);
    await untilDone(() => suspendDriver(driverId));
    suspension.from = Date.now();
    await setTimeout(between(random, 2_000, 7_000), undefined, { signal: stopping }).catch(() => {});
    suspension.until = Date.now();
    await untilDone(() => resumeDriver(driverId));
    suspension.liftedAt = Date.now();
  }
}
