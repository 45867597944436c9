import { setMaxListeners } from 'node:events';
import http from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { suspendDriver } from '../../../shared/drivers/manage-drivers.ts';
import { resumeDriver } from '../../../shared/rides/driver/settle-driver.ts';
import { pointAt } from '../../../shared/rides/position.ts';
import { between, oneOf, type Random, seededRandom } from '../random.ts';
import type { FleetDriver, World } from '../world/world.ts';
import { type DriverAtWork, type DriverCall, driverAtWork, type Sight } from './driver-at-work.ts';
import { pickup } from './partners.ts';

/** A time in which a driver was suspended. All times are Unix ms, by this machine's clock. */
export interface Suspension {
  driverId: string;
  /** Asked for, in force for certain, asked to be lifted, and lifted for certain. */
  askedAt: number;
  from: number;
  until: number;
  liftedAt: number;
}

/** What a fleet did and was told: the drivers' own journals, which are evidence. */
export interface FleetLog {
  drivers: FleetDriver[];
  calls: DriverCall[];
  sights: Sight[];
  suspensions: Suspension[];
}

export interface Fleet {
  log: FleetLog;
  /** Takes every driver offline and ends. For when no ride is under way any more. Can be called again. */
  stop(): Promise<FleetLog>;
}

export interface FleetOptions {
  drivers?: number;
  /** How long a driver pauses between two looks, at most; before a step it is longer. */
  pauseMs?: number;
  /** Drivers stay online. */
  areConstant?: boolean;
}

/** How far from the pickup the drivers wait: in each of the rounds' circles. */
const distancesKm = [0.2, 1, 2.5, 5, 9, 11];
const cars = [
  { carType: 'regular', seats: 4 },
  { carType: 'regular', seats: 6 },
  { carType: 'comfort', seats: 4 },
  { carType: 'regular', seats: 4 },
  { carType: 'family', seats: 6 },
] as const;

/**
 * Drivers at work on all API processes of a world: they go online and offline, report positions, look at what is open to
 * them by polling or by a stream, make offers and withdraw some, and drive the rides that they are chosen for. Some are
 * suspended now and then, and one goes offline at once and then only reports its position. Resolves when all have been online.
 */
export async function startFleet(
  world: World,
  random: Random,
  { drivers = 14, pauseMs = 500, areConstant = false }: FleetOptions = {},
): Promise<Fleet> {
  const agent = new http.Agent({ keepAlive: true });
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
      agent,
      driver,
      place,
      log,
      pauseMs,
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
    async stop() {
      stopping.abort();
      await operator;
      await Promise.all(atWork.map(({ done }) => done));
      agent.destroy();
      return log;
    },
  };
}

/** An operator who suspends a driver now and then, and thinks better of it some seconds later. */
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

/** Again and again while MongoDB is away. */
async function untilDone(change: () => Promise<void>): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    try {
      return await change();
    } catch {
      await setTimeout(200);
    }
  }
  throw new Error('MongoDB does not come back');
}
