import { writeReports } from '../../../shared/drivers/positions.ts';
import type { Bench } from '../bench.ts';
import { type BenchKey, newKeys } from '../data/keys.ts';
import { retrieval } from '../data/requests.ts';
import { biddingRide, insertRides, tripRide } from '../data/rides.ts';
import { type ApiPath, apiPath, type Prepared } from './api-path.ts';

const keyCount = 100;
const ridesOfEach = 10;

const readGoals = {
  status: 200,
  cpuGoals: { 1: 1.3, 16: 0.45, 64: 0.3 },
  rateGoals: { 1: 0.85, 16: 2.5, 64: 3.5 },
};

/** Rides under way, with a driver and a moving car. */
export const retrievePath: ApiPath = {
  name: 'retrieve',
  ...readGoals,
  prepare: once(() => prepared((key) => tripRide(key, 'in_progress'))),
};

/** Rides that have three offers. */
export const offersPath: ApiPath = {
  name: 'offers',
  ...readGoals,
  prepare: once(() => prepared((key) => biddingRide(key, 3), '/offers')),
};

export const retrieve = apiPath(retrievePath);
export const offers = apiPath(offersPath);

/** Reads change nothing, so that all rounds of a stack can ask the same. */
function once(prepare: () => Promise<Prepared>): (bench: Bench) => Promise<Prepared> {
  const ready = new WeakMap<Bench, Promise<Prepared>>();
  return (bench) => {
    const found = ready.get(bench) ?? prepare();
    ready.set(bench, found);
    return found;
  };
}

/** One ride after the other in an order in which neighbours belong to different keys. */
async function prepared(newRide: (key: BenchKey) => ReturnType<typeof biddingRide>, below = ''): Promise<Prepared> {
  const keys = await newKeys(keyCount, 'live');
  const owners = Array.from({ length: ridesOfEach }, () => keys).flat();
  const made = owners.map((key) => ({ key, ride: newRide(key) }));
  await insertRides(made.map(({ ride }) => ride));
  await reportPositions(made.flatMap(({ ride }) => ride.driver?.driverId ?? []));
  return { requests: made.map(({ key, ride }) => retrieval(key, ride._id, below)) };
}

/** Where the drivers are, as they report it. */
async function reportPositions(driverIds: readonly string[]): Promise<void> {
  const at = new Date();
  const reports = driverIds.map((driverId) => [driverId, { lat: 40.75, lng: -73.98, heading: 90, at }] as const);
  if (reports.length > 0) await writeReports(new Map(reports), at);
}
