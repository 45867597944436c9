import { firstAttemptId } from '../../../shared/base/ids.ts';
import { timeLimit } from '../../../shared/base/mongo/durability.ts';
import { eraseRides } from '../../../shared/retention/erase-rides.ts';
import { erasedThrough, noteErased } from '../../../shared/retention/progress.ts';
import { erasable, rides } from '../../../shared/rides/ride.ts';
import type { Pace } from '../../../shared/usage/sum-rides.ts';
import { type AttemptRecord, attempts } from '../../../shared/webhooks/attempts.ts';
import { eraseAttempts } from '../../../shared/webhooks/erase-attempts.ts';
import { walk } from '../sweeper/walk.ts';
import type { Failed } from './retention.ts';

/** A batch is a short command: no request waits for long behind it. */
const ridesAtOnce = 50;
const attemptsAtOnce = 200;

/**
 * Erases the rides that ended before a time, the first in front. A batch that fails is tried ride by ride, so that one ride
 * keeps none of the others. Resolves with how many were erased.
 */
export async function eraseOldRides(before: Date, pace: Pace, failed: Failed): Promise<number> {
  let erased = 0;
  const count = (rides: number) => {
    erased += rides;
  };
  const eraseOneByOne = async (rideIds: readonly string[]) => {
    for (const rideId of rideIds) {
      await pace();
      await eraseRides([rideId]).then(count, (error) => failed({ rideId }, error));
    }
  };
  await walk<{ _id: string }>(
    {
      collection: rides as never,
      by: 'statusAt',
      filter: erasable,
      projection: { _id: 1 },
      until: before,
      async visit(ended) {
        for (let start = 0; start < ended.length; start += ridesAtOnce) {
          const rideIds = ended.slice(start, start + ridesAtOnce).map(({ _id }) => _id);
          await pace();
          await eraseRides(rideIds).then(count, async (error) => {
            failed({}, error);
            await eraseOneByOne(rideIds);
          });
        }
        return ended.length;
      },
    },
    'front',
    {
      maxIdle: Number.POSITIVE_INFINITY,
      mayGoOn: async () => {
        await pace();
        return true;
      },
      onProgress: () => {},
    },
  );
  return erased;
}

/**
 * Erases the attempts that were made before a time and are not erased with their rides, such as redeliveries that ended
 * later, and deletes test events, which belong to no ride. Each attempt is looked at once. Resolves with how many were.
 */
export async function eraseOldAttempts(before: Date, pace: Pace): Promise<number> {
  const end = firstAttemptId(before.getTime());
  let looked = 0;
  for (let after = await erasedThrough(); after < end; ) {
    await pace();
    const page = await attempts
      .find<Pick<AttemptRecord, '_id' | 'kind'>>(
        { _id: { $gt: after, $lt: end } },
        {
          projection: { kind: 1 },
          sort: { _id: 1 },
          limit: attemptsAtOnce,
          batchSize: attemptsAtOnce,
          ...timeLimit(),
        },
      )
      .toArray();
    const ids = (isTest: boolean) => page.filter(({ kind }) => (kind === 'test') === isTest).map(({ _id }) => _id);
    await eraseAttempts({ _id: { $in: ids(false) } });
    await attempts.deleteMany({ _id: { $in: ids(true) } }, timeLimit());
    looked += page.length;
    after = page.length < attemptsAtOnce ? end : (page.at(-1)?._id ?? end);
    await noteErased(after);
  }
  return looked;
}
