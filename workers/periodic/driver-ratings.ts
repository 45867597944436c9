import type { Logger } from '../../shared/base/logger.ts';
import { findAll } from '../../shared/base/mongo/collection.ts';
import { committedReads, durableWrites } from '../../shared/base/mongo/durability.ts';
import { drivers } from '../../shared/drivers/driver.ts';
import { ratingIndex, rides } from '../../shared/rides/ride.ts';
import type { Ride, RideRating } from '../../shared/rides/ride-types.ts';
import { logFailedPart, onceAMinute, type Pace, type PacedWork } from './turns.ts';

/** A driver's rating is the mean of this many ratings, the latest ones. */
const countedRatings = 200;

/** Adds new ratings of rides to the ratings of their drivers. */
export const driverRatings: PacedWork = {
  leaseKey: '{rides:ratings}:lease',
  ...onceAMinute,
  failure: 'ratings of drivers not counted',
  async work(ctx, pace) {
    const counted = await countRatings(ctx.log, pace);
    if (counted > 0) ctx.log.info({ drivers: counted }, 'ratings of drivers counted');
  },
};

/** Counts the ratings of all drivers who have a new one. Resolves with the number of drivers. */
async function countRatings(log: Logger, pace: Pace): Promise<number> {
  const owed = await rides.distinct('driver.driverId', { ratingOwed: true }, committedReads());
  let counted = 0;
  for (const driverId of owed) {
    try {
      await countRatingsOf(driverId, pace);
      counted += 1;
    } catch (error) {
      logFailedPart(log, 'the ratings of a driver could not be counted', { driverId }, error);
    }
  }
  return counted;
}

/**
 * Counts the last ratings of a driver from the rides, so a repeat changes nothing. Writes only if no other process has
 * counted since; then the marks of the rides stay, and the next turn counts again.
 */
export async function countRatingsOf(driverId: string, pace: Pace): Promise<void> {
  await pace();
  // The marks are read before the ratings: a ride that is rated in between keeps its mark.
  const marked = { 'driver.driverId': driverId, ratingOwed: true } as const;
  const owed = await rides.find(marked, { projection: { _id: 1 }, ...committedReads() }).toArray();
  const driver = await drivers.findOne({ _id: driverId }, { projection: { ratings: 1 }, ...committedReads() });
  await pace();
  // For `$exists`, MongoDB would also read each ride. This condition needs only the index.
  const rated = { 'driver.driverId': driverId, mode: 'live', 'rating.at': { $gt: new Date(0) } } as const;
  const last = await findAll<Ride, { rating: Pick<RideRating, 'stars'> }>(rides, rated, {
    projection: { _id: 0, 'rating.stars': 1 },
    sort: { 'rating.at': -1 },
    limit: countedRatings,
    hint: ratingIndex,
    ...committedReads(),
  });
  const { rev } = driver?.ratings ?? {};
  const sum = last.reduce((all, { rating }) => all + rating.stars, 0);
  const { matchedCount } = await drivers.updateOne(
    { _id: driverId, 'ratings.rev': rev ?? { $exists: false } },
    { $set: { ratings: { count: last.length, sum, rev: (rev ?? 0) + 1 } } },
    { writeConcern: durableWrites() },
  );
  if (driver && matchedCount === 0) return;
  await rides.updateMany({ _id: { $in: owed.map(({ _id }) => _id) } }, { $unset: { ratingOwed: '' } });
}
