import { accountCode, fareDayId, fareDays, placeOf, stepOf } from '../../shared/fares/fare-days.ts';
import { firstRideId } from '../../shared/ids.ts';
import { committedReads } from '../../shared/mongo/durability.ts';
import { greatCircleKm } from '../../shared/rides/position.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { dayMs, dayOf } from '../../shared/usage/days.ts';
import type { Pace } from '../../shared/usage/sum-rides.ts';

const pageSize = 500;
/** On shorter trips the price is hardly one of the distance. */
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
  erasedAt: 1,
} as const;
type CountedRide = Pick<Ride, '_id' | keyof typeof fields>;

interface Count {
  trips: number;
  /** By account's code: the trips. */
  accounts: Map<string, number>;
  /** By step of price: the trips. */
  prices: Map<number, number>;
}

/**
 * Counts the prices per km of the completed live rides that were created on a day, by place. Reads the rides in pages by
 * their ids, which begin with the time. Can run twice: what is counted again replaces the first count. Resolves with how many
 * trips were counted.
 */
export async function countDay(start: Date, pace: Pace): Promise<number> {
  const counts = new Map<string, Count>();
  for await (const page of pagesOf(start, pace)) for (const ride of page) count(counts, ride);
  const day = dayOf(start);
  const documents = [...counts].map(([place, { trips, accounts, prices }]) => ({
    _id: fareDayId(place, day),
    day,
    trips,
    accounts: [...accounts].map(([code, ofAccount]) => ({ code, trips: ofAccount })),
    prices: [...prices].map(([step, ofStep]) => ({ step, trips: ofStep })),
  }));
  for (let first = 0; first < documents.length; first += pageSize) {
    await pace();
    const writes = documents.slice(first, first + pageSize).map((replacement) => ({
      replaceOne: { filter: { _id: replacement._id }, replacement, upsert: true },
    }));
    await fareDays.bulkWrite(writes, { ordered: false });
  }
  return documents.reduce((sum, { trips }) => sum + trips, 0);
}

async function* pagesOf(start: Date, pace: Pace): AsyncGenerator<CountedRide[]> {
  const end = firstRideId(start.getTime() + dayMs);
  for (let after = firstRideId(start.getTime()); ; ) {
    await pace();
    const page = await rides
      .find<CountedRide>(
        { _id: { $gt: after, $lt: end } },
        { ...committedReads(), projection: fields, sort: { _id: 1 }, limit: pageSize, batchSize: pageSize + 1 },
      )
      .toArray();
    yield page;
    const last = page.at(-1);
    if (!last || page.length < pageSize) return;
    after = last._id;
  }
}

function count(counts: Map<string, Count>, ride: CountedRide): void {
  const { mode, status, rideType, agreedPrice, pickup, destination, carType, accountId, erasedAt } = ride;
  // The places of an erased ride are too coarse for a distance.
  if (mode !== 'live' || status !== 'completed' || rideType !== 'standard') return;
  if (typeof agreedPrice !== 'number' || erasedAt) return;
  // Not the partner's own distance, which may be one by road.
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
