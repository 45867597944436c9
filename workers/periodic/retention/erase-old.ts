import { firstAttemptId } from '../../../shared/base/ids.ts';
import { timeLimit } from '../../../shared/base/mongo/durability.ts';
import { erasedThrough, eraseRides, noteErased } from '../../../shared/retention/erase-rides.ts';
import { erasable, rides } from '../../../shared/rides/ride.ts';
import { type AttemptRecord, attempts, eraseAttempts } from '../../../shared/webhooks/attempts.ts';
import type { Pace } from '../turns.ts';
import { pagesById, walk } from '../walk.ts';

/** A small batch is a short command, so no request waits long behind it. */
const ridesPerBatch = 50;
const attemptsAtOnce = 200;

/**
 * Erases the rides that ended before a time, in the order in which they ended. Retries a failed batch ride by ride, so
 * that one failing ride does not block the others. Resolves with the number of erased rides.
 */
export async function eraseOldRides(
  before: Date,
  pace: Pace,
  onError: (part: object, error: unknown) => 0,
): Promise<number> {
  let erased = 0;
  const mayContinue = async () => {
    await pace();
    return true;
  };
  const erase = async (rideIds: readonly string[], onErrorOfBatch: (error: unknown) => unknown) => {
    await pace();
    try {
      erased += await eraseRides(rideIds);
    } catch (error) {
      await onErrorOfBatch(error);
    }
  };
  const eraseOneByOne = async (rideIds: readonly string[]) => {
    for (const rideId of rideIds) await erase([rideId], (error) => onError({ rideId }, error));
  };
  const visit = async (found: readonly { _id: string }[]) => {
    for (let start = 0; start < found.length; start += ridesPerBatch) {
      const rideIds = found.slice(start, start + ridesPerBatch).map(({ _id }) => _id);
      await erase(rideIds, (error) => {
        onError({}, error);
        return eraseOneByOne(rideIds);
      });
    }
    return found.length;
  };
  await walk<{ _id: string }>(
    { collection: rides, by: 'statusAt', filter: erasable, projection: { _id: 1 }, until: before, visit },
    'front',
    { maxIdle: Number.POSITIVE_INFINITY, mayContinue },
  );
  return erased;
}

/**
 * Erases the attempts from before a time that were not erased with their rides, such as redeliveries that ended later.
 * Deletes test events, which belong to no ride. Reads each attempt once: the next call continues after it. Resolves
 * with the number of attempts read.
 */
export async function eraseOldAttempts(before: Date, pace: Pace): Promise<number> {
  const end = firstAttemptId(before.getTime());
  const after = await erasedThrough();
  if (after >= end) return 0;
  let read = 0;
  const range = { after, before: end, pageSize: attemptsAtOnce, projection: { kind: 1 }, options: timeLimit() };
  for await (const page of pagesById<Pick<AttemptRecord, '_id' | 'kind'>>(attempts, range, pace)) {
    const ids = (isTest: boolean) => page.filter(({ kind }) => (kind === 'test') === isTest).map(({ _id }) => _id);
    await eraseAttempts({ _id: { $in: ids(false) } });
    await attempts.deleteMany({ _id: { $in: ids(true) } }, timeLimit());
    read += page.length;
    await noteErased(page.at(-1)?._id ?? end);
  }
  await noteErased(end);
  return read;
}
