import { writeReports } from '../../../shared/drivers/position-reports.ts';
import type { Bench } from '../bench.ts';
import { type BenchKey, newKeys } from '../data/keys.ts';
import { retrieval } from '../data/requests.ts';
import { biddingRide, insertRides, tripRide } from '../data/rides.ts';
import { apiPath, type PreparedLoad } from './api-path.ts';

const keyCount = 100;
const ridesOfEach = 10;

const readGoals = {
  status: 200,
  cpuGoals: { 1: 1.3, 16: 0.45, 64: 0.3 },
  rateGoals: { 1: 0.85, 16: 2.5, 64: 3.5 },
};

/** Active rides, with a driver and a moving car. */
export const retrieve = apiPath({
  name: 'retrieve',
  ...readGoals,
  cpuGoals: { 1: 1, 16: 0.38, 64: 0.26 },
  prepare: once(() => prepareRides((key) => tripRide(key, 'in_progress'))),
});

/** Rides with three offers. */
export const offers = apiPath({
  name: 'offers',
  ...readGoals,
  prepare: once(() => prepareRides((key) => biddingRide(key, 3), '/offers')),
});

/** Prepares only once for all rounds, because reads change nothing. */
function once(prepare: () => Promise<PreparedLoad>): (bench: Bench) => Promise<PreparedLoad> {
  const ready = new WeakMap<Bench, Promise<PreparedLoad>>();
  return (bench) => {
    const found = ready.get(bench) ?? prepare();
    ready.set(bench, found);
    return found;
  };
}

/** Requests for new rides. Consecutive rides belong to different keys. */
async function prepareRides(
  newRide: (key: BenchKey) => ReturnType<typeof biddingRide>,
  below = '',
): Promise<PreparedLoad> {
  const keys = await newKeys(keyCount, 'live');
  const owners = Array.from({ length: ridesOfEach }, () => keys).flat();
  const made = owners.map((key) => ({ key, ride: newRide(key) }));
  await insertRides(made.map(({ ride }) => ride));
  await reportPositions(made.flatMap(({ ride }) => ride.driver?.driverId ?? []));
  return { requests: made.map(({ key, ride }) => retrieval(key, ride._id, below)) };
}

/** Writes a position report for each driver. */
async function reportPositions(driverIds: readonly string[]): Promise<void> {
  const at = new Date();
  const reports = driverIds.map((driverId) => [driverId, { lat: 40.75, lng: -73.98, heading: 90, at }] as const);
  if (reports.length > 0) await writeReports(new Map(reports), at);
}
