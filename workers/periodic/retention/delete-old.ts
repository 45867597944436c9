import { AuditModel } from '../../../shared/accounts/audit.ts';
import { LimitModel } from '../../../shared/accounts/limit.ts';
import { SessionModel } from '../../../shared/accounts/session.ts';
import { SignInModel } from '../../../shared/accounts/sign-in-row.ts';
import { firstRideId } from '../../../shared/base/ids.ts';
import { collection, exists, findAmong } from '../../../shared/base/mongo/collection.ts';
import { timeLimit } from '../../../shared/base/mongo/durability.ts';
import { driverSessions, drivers } from '../../../shared/drivers/driver.ts';
import { positions } from '../../../shared/drivers/positions.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import { endpoints } from '../../../shared/keys/endpoints.ts';
import { MailModel } from '../../../shared/mail/mail-row.ts';
import { messages } from '../../../shared/messages/message-row.ts';
import { createdIndex, RideModel, rides } from '../../../shared/rides/ride.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { hasEnded } from '../../../shared/rides/transitions.ts';
import { rideSums } from '../../../shared/usage/ride-sums.ts';
import { ridesNeededFrom } from '../../../shared/usage/usage-progress.ts';
import { attempts } from '../../../shared/webhooks/attempts.ts';
import type { Pace } from '../turns.ts';
import { pagesById } from '../walk.ts';

const batchSize = 200;
/** A batch has fewer rides than other documents, because each ride is deleted with its attempts and messages. */
const ridesPerBatch = 50;

type Rows = ReturnType<typeof collection<{ _id: unknown }>>;
const expiring: Rows[] = [SignInModel, SessionModel, driverSessions.model, LimitModel, MailModel].map((model) =>
  collection(model),
);

/**
 * Deletes expired sign-in codes, sessions (of people and drivers), rate limits and finished mails. Resolves with how
 * many rows were deleted.
 */
export async function deleteExpired(now: Date, pace: Pace): Promise<number> {
  let deleted = 0;
  for (const rows of expiring) deleted += await deleteBefore(rows, 'expiresAt', now, pace);
  return deleted;
}

/** Deletes the audit entries from before a time. Resolves with how many were deleted. */
export const deleteOldAudit = (before: Date, pace: Pace): Promise<number> =>
  deleteBefore(collection(AuditModel), 'at', before, pace);

const deleteBefore = (rows: Rows, field: string, before: Date, pace: Pace): Promise<number> =>
  changeBefore(rows, field, before, pace, async (old) => (await rows.deleteMany(old, timeLimit())).deletedCount);

/** Removes expired Idempotency-Keys from their rides. Resolves with how many were removed. */
export const dropOldIdempotencyKeys = (now: Date, pace: Pace): Promise<number> =>
  changeBefore(collection(RideModel), 'idempotency.expiresAt', now, pace, async (old) => {
    const { modifiedCount } = await rides.updateMany(old, { $unset: { idempotency: '' } }, timeLimit());
    return modifiedCount;
  });

/**
 * Applies `change` to the documents whose `field` is before a time, in batches. The filter of each change contains the
 * condition again, because a session that is used in the meantime gets a later expiry. Resolves with the sum of the
 * counts that `change` returned.
 */
async function changeBefore(
  rows: Rows,
  field: string,
  before: Date,
  pace: Pace,
  change: (old: object) => Promise<number>,
): Promise<number> {
  const isOld = { [field]: { $lt: before } };
  const order = { [field]: 1 } as const;
  const page = { projection: { _id: 1 }, sort: order, hint: order, limit: batchSize, batchSize } as const;
  for (let changed = 0; ; ) {
    await pace();
    const old = await rows.find(isOld, { ...page, ...timeLimit() }).toArray();
    if (old.length === 0) return changed;
    changed += await change({ _id: { $in: old.map(({ _id }) => _id) }, ...isOld });
    if (old.length < batchSize) return changed;
  }
}

/**
 * Deletes the positions of drivers who sent their last position before a time, and of revoked drivers without a ride.
 * Reads the positions of all drivers, in the order of their ids. Resolves with the number of deleted positions.
 */
export async function deleteOldPositions(before: Date, pace: Pace): Promise<number> {
  let deleted = 0;
  const range = { pageSize: batchSize, projection: { seenAt: 1 }, options: timeLimit() };
  for await (const found of pagesById<{ _id: string }>(positions, range, pace)) {
    const ids = found.map(({ _id }) => _id);
    const revoked = await findAmong(drivers, ids, { _id: 1 }, { revokedAt: { $exists: true } });
    const isGone = [
      { _id: { $in: ids }, seenAt: { $lt: before } },
      { _id: { $in: revoked.map(({ _id }) => _id) }, rideId: { $exists: false } },
    ];
    deleted += (await positions.deleteMany({ $or: isGone }, timeLimit())).deletedCount;
  }
  return deleted;
}

/** Deletes the keys that were revoked before a time and never had a ride, so no statement or sum refers to them. */
export async function deleteUnusedKeys(before: Date, pace: Pace): Promise<number> {
  const order = { revokedAt: 1, _id: 1 } as const;
  const page = { projection: { revokedAt: 1 }, sort: order, hint: order, limit: batchSize, batchSize } as const;
  let deleted = 0;
  for (let start = {}; ; ) {
    await pace();
    const found = await keys
      .find<{ _id: string; revokedAt: Date }>({ revokedAt: { $lt: before } }, { ...page, ...start, ...timeLimit() })
      .toArray();
    const ids = found.map(({ _id }) => _id);
    const used = new Set((await findAmong(rideSums, ids, { _id: 1 })).map(({ _id }) => _id));
    const unused = ids.filter((keyId) => !used.has(keyId));
    for (const keyId of unused) {
      if (await exists(rides, { keyId }, { hint: createdIndex, ...timeLimit() })) continue;
      await endpoints.deleteMany({ keyId }, timeLimit());
      deleted += (await keys.deleteOne({ _id: keyId, revokedAt: { $lt: before } }, timeLimit())).deletedCount;
    }
    const last = found.at(-1);
    if (!last || found.length < batchSize) return deleted;
    start = { min: { revokedAt: last.revokedAt, _id: `${last._id} ` } };
  }
}

type OldRide = Pick<Ride, '_id' | 'status' | 'statusAt' | 'unsettled'>;

/**
 * Deletes the rides that ended before a time, the oldest first. Deletes a ride only when its events are settled, its
 * day is summed and its month is closed. Deletes a ride's attempts and messages before the ride itself, so that none is left
 * without its ride. Resolves with the number of deleted rides.
 */
export async function deleteOldRides(before: Date, pace: Pace): Promise<number> {
  const neededFrom = await ridesNeededFrom();
  if (!neededFrom) return 0;
  const end = before < neededFrom ? before : neededFrom;
  // A ride's id starts with its creation time. A ride that ended before `end` was also created before `end`.
  const range = {
    before: firstRideId(end.getTime()),
    pageSize: batchSize,
    projection: { status: 1, statusAt: 1, unsettled: 1 },
    options: timeLimit(),
  };
  let deleted = 0;
  for await (const found of pagesById<OldRide>(rides, range, pace)) {
    const old = found.filter(({ status, statusAt, unsettled }) => hasEnded(status) && statusAt < end && !unsettled);
    for (let start = 0; start < old.length; start += ridesPerBatch) {
      const ids = old.slice(start, start + ridesPerBatch).map(({ _id }) => _id);
      await pace();
      await attempts.deleteMany({ rideId: { $in: ids } }, timeLimit());
      await messages.deleteMany({ rideId: { $in: ids } }, timeLimit());
      deleted += (await rides.deleteMany({ _id: { $in: ids } }, timeLimit())).deletedCount;
    }
  }
  return deleted;
}
