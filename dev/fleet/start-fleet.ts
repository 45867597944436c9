import { haversineKm, type Point } from '../../shared/base/great-circle.ts';
import { pointAt } from '../../shared/rides/position.ts';
import { type Behaviour, behaviourOf } from './behaviour.ts';
import { type Figures, noFigures } from './figures.ts';
import { type FleetDriver, startDriver } from './fleet-driver.ts';
import { gatewayClient } from './gateway-client.ts';
import { type Random, randomOf } from './random.ts';
import { createCar } from './trip.ts';

/** A circle in which drivers wait for rides. */
export interface Area extends Point {
  km: number;
}

export interface FleetOptions {
  /** The service's address, before `/drivers/v1`. */
  url: string;
  /** The secret key of each driver. */
  keys: readonly string[];
  area: Area;
  /** The seed that determines the drivers' positions, behaviours and choices. */
  seed: number;
  /** The factor by which cars are faster than in real life. */
  drivingSpeed: number;
  /** The factor by which drivers decide faster than in real life. */
  thinkingSpeed: number;
  reportMs?: number;
  /** The behaviour of all drivers. By default each driver has a different one. */
  behaviour?: Behaviour;
  /**
   * Called when a driver receives a request. `availableAt`: when the driver last became available for rides that the
   * driver could not get before (went online, ended a ride, got room for a request, moved), by `performance.now()`.
   */
  onRequest?(rideId: string, availableAt: number): void;
}

export interface Fleet {
  figures: Readonly<Figures>;
  /** Withdraws all offers, cancels all rides and takes every driver offline. */
  stop(): Promise<void>;
}

const cityKmh = 30;
const wanderKm = 0.5;
/** At each report, this share of the idle drivers starts a drive. */
const wanderShare = 0.2;
const batchSize = 25;

/**
 * Puts a driver online for each key. If the service refuses a driver or cannot be reached, takes the others offline and
 * rejects with that error. `ending` aborts the start.
 */
export async function startFleet(options: FleetOptions, ending?: AbortSignal): Promise<Fleet> {
  const figures = noFigures();
  const started: FleetDriver[] = [];
  const stop = async () => {
    for (let from = 0; from < started.length; from += batchSize) {
      await Promise.all(started.slice(from, from + batchSize).map((driver) => driver.stop()));
    }
  };
  try {
    for (let from = 0; from < options.keys.length && !ending?.aborted; from += batchSize) {
      const batch = options.keys.slice(from, from + batchSize);
      const results = await Promise.allSettled(
        batch.map((key, index) => newDriver(options, key, from + index, figures)),
      );
      for (const result of results) if (result.status === 'fulfilled') started.push(result.value);
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { figures, stop };
}

function newDriver(options: FleetOptions, key: string, index: number, figures: Figures): Promise<FleetDriver> {
  const { url, area, seed, drivingSpeed, thinkingSpeed, reportMs = 5_000, behaviour, onRequest } = options;
  const character = randomOf(seed, index, 'character');
  const kmh = cityKmh * drivingSpeed;
  const car = createCar(randomPointIn(area, character), kmh);
  const roads = randomOf(seed, index, 'roads');
  return startDriver({
    client: gatewayClient(url, key),
    car,
    behaviour: behaviour ?? behaviourOf(character),
    random: { bids: randomOf(seed, index, 'bids'), trips: randomOf(seed, index, 'trips') },
    wander: () => (roads() < wanderShare ? nearbyPointIn(area, car.where(), roads) : undefined),
    kmh: cityKmh,
    speed: thinkingSpeed,
    reportMs,
    figures,
    onRequest,
  });
}

const randomPointIn = ({ km, ...middle }: Area, random: Random): Point =>
  pointAt(middle, km * Math.sqrt(random()), random() * 360);

/** A point a short drive away if that is in the area, else any point of the area. */
function nearbyPointIn(area: Area, from: Point, random: Random): Point {
  const near = randomPointIn({ ...from, km: wanderKm }, random);
  const isInside = haversineKm(area, near) <= area.km;
  return isInside ? near : randomPointIn(area, random);
}
