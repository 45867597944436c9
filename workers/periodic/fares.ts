import { greatCircleKm } from '../../shared/base/great-circle.ts';
import { timeLimit } from '../../shared/base/mongo/durability.ts';
import {
  accountCode,
  fareDayId,
  fareDays,
  fareProgress,
  keptDays,
  placeOf,
  stepOf,
} from '../../shared/fares/fare-days.ts';
import { erasable, rides } from '../../shared/rides/ride.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { dayMs, dayOf, summableUntil } from '../../shared/usage/days.ts';
import { onceAMinute, type Pace, type PacedWork } from './turns.ts';
import { walk } from './walk.ts';

/** Counts the fares of all finished days, for the fare hint. */
export const fareCounts: PacedWork = {
  leaseKey: '{rides:fares}:lease',
  ...onceAMinute,
  failure: 'fares not counted',
  async work(ctx, pace) {
    const trips = await countDays(summableUntil(ctx.now()), pace);
    if (trips > 0) ctx.log.info({ trips }, 'fares counted');
  },
};

/**
 * Counts all days before `until` (the start of a day) that are not counted yet. Also recounts the last counted day,
 * because some of its rides still had events to send at the first count. Deletes days that no hint uses anymore.
 * Resolves with the number of counted trips.
 */
async function countDays(until: Date, pace: Pace): Promise<number> {
  const first = new Date(until.getTime() - keptDays * dayMs);
  const known = await fareProgress.findOne({ _id: 'completed' }, timeLimit());
  if (known && known.through >= until) return 0;
  let day = new Date(Math.max(first.getTime(), (known?.through.getTime() ?? 0) - dayMs));
  let trips = 0;
  while (day < until) {
    trips += await countDay(day, pace);
    day = new Date(day.getTime() + dayMs);
    await fareProgress.updateOne({ _id: 'completed' }, { $max: { through: day } }, { upsert: true });
  }
  await pace();
  await fareDays.deleteMany({ day: { $lt: dayOf(first) } });
  return trips;
}

/** Shorter trips are not counted, because their price does not depend on the distance. */
const shortestKm = 0.5;

const fields = {
  accountId: 1,
  mode: 1,
  status: 1,
  carType: 1,
  rideType: 1,
  pickup: 1,
  destination: 1,
  agreedPrice: 1,
} as const;
type CountedRide = Pick<Ride, '_id' | keyof typeof fields>;

interface Count {
  trips: number;
  /** Account code -> trips. */
  accounts: Map<string, number>;
  /** The number of trips at each price, which is rounded to steps of 5 %. */
  prices: Map<number, number>;
}

/** The most counts that one command writes. */
const countsAtOnce = 500;

/**
 * Counts the completed live rides that ended on one day, by place (cell and car type) and agreed price per km. An erased
 * ride is not counted: its coordinates are too coarse to compute a distance. Idempotent: a second count replaces the
 * first. Resolves with the number of counted trips.
 */
async function countDay(start: Date, pace: Pace): Promise<number> {
  const counts = new Map<string, Count>();
  const until = new Date(start.getTime() + dayMs - 1);
  const visit = async (ended: readonly CountedRide[]) => {
    for (const ride of ended) count(counts, ride);
    return ended.length;
  };
  const along = { collection: rides, by: 'statusAt', filter: erasable, projection: fields, until, visit } as const;
  const mayContinue = async () => {
    await pace();
    return true;
  };
  await walk<CountedRide>(along, { key: start, id: '' }, { maxIdle: Number.POSITIVE_INFINITY, mayContinue });
  const day = dayOf(start);
  const documents = [...counts].map(([place, { trips, accounts, prices }]) => ({
    _id: fareDayId(place, day),
    day,
    trips,
    accounts: [...accounts].map(([code, ofAccount]) => ({ code, trips: ofAccount })),
    prices: [...prices].map(([step, ofStep]) => ({ step, trips: ofStep })),
  }));
  for (let first = 0; first < documents.length; first += countsAtOnce) {
    await pace();
    const writes = documents.slice(first, first + countsAtOnce).map((replacement) => ({
      replaceOne: { filter: { _id: replacement._id }, replacement, upsert: true },
    }));
    await fareDays.bulkWrite(writes, { ordered: false });
  }
  return documents.reduce((sum, { trips }) => sum + trips, 0);
}

function count(counts: Map<string, Count>, ride: CountedRide): void {
  const { mode, status, rideType, agreedPrice, pickup, destination, carType, accountId } = ride;
  if (mode !== 'live' || status !== 'completed' || rideType !== 'standard') return;
  if (typeof agreedPrice !== 'number') return;
  // Computed here, because the partner's own `distanceKm` may be a road distance.
  const km = greatCircleKm(pickup, destination);
  if (km < shortestKm) return;
  const place = placeOf(pickup, carType);
  const known = counts.get(place) ?? { trips: 0, accounts: new Map(), prices: new Map() };
  counts.set(place, known);
  known.trips += 1;
  addOne(known.accounts, accountCode(place, accountId));
  addOne(known.prices, stepOf(agreedPrice / km));
}

function addOne<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
