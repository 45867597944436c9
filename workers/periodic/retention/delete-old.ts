import type mongoose from 'mongoose';
import { AuditModel } from '../../../shared/accounts/audit.ts';
import { LimitModel } from '../../../shared/accounts/limit.ts';
import { SessionModel } from '../../../shared/accounts/session.ts';
import { SignInModel } from '../../../shared/accounts/sign-in-row.ts';
import { SubmissionModel } from '../../../shared/accounts/submission.ts';
import { firstRideId } from '../../../shared/base/ids.ts';
import { timeLimit } from '../../../shared/base/mongo/durability.ts';
import { drivers, driverSessions } from '../../../shared/drivers/driver.ts';
import { positions } from '../../../shared/drivers/positions.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import { MailModel } from '../../../shared/mail/mail-row.ts';
import { createdIndex, rides } from '../../../shared/rides/ride.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { hasEnded } from '../../../shared/rides/transitions.ts';
import { ridesNeededFrom } from '../../../shared/usage/progress.ts';
import { rideSums } from '../../../shared/usage/ride-sums.ts';
import type { Pace } from '../../../shared/usage/sum-rides.ts';
import { attempts } from '../../../shared/webhooks/attempts.ts';

const atOnce = 200;
/** Each has several attempts, which are deleted with it. */
const ridesAtOnce = 50;

const expiring = [SignInModel, SessionModel, driverSessions.model, SubmissionModel, LimitModel, MailModel];

/**
 * Deletes sign-in codes, sessions of people and of drivers, submissions and limits that have expired, and mails that were
 * sent or have failed and are no longer kept. Resolves with how many.
 */
export async function deleteExpired(now: Date, pace: Pace): Promise<number> {
  let deleted = 0;
  for (const { collection } of expiring) deleted += await deleteBefore(collection, 'expiresAt', now, pace);
  return deleted;
}

/** Deletes the entries of what was done in accounts before a time. Resolves with how many. */
export const deleteOldAudit = (before: Date, pace: Pace): Promise<number> =>
  deleteBefore(AuditModel.collection, 'at', before, pace);

/** The time is part of the deletion too: meanwhile a session may have been used and live on. */
async function deleteBefore(
  { collectionName, conn }: { collectionName: string; conn: mongoose.Connection },
  field: string,
  before: Date,
  pace: Pace,
): Promise<number> {
  const collection = conn.collection<{ _id: unknown }>(collectionName);
  const isOld = { [field]: { $lt: before } };
  const order = { [field]: 1 } as const;
  const page = { projection: { _id: 1 }, sort: order, hint: order, limit: atOnce, batchSize: atOnce } as const;
  for (let deleted = 0; ; ) {
    await pace();
    const old = await collection.find(isOld, { ...page, ...timeLimit() }).toArray();
    if (old.length === 0) return deleted;
    const { deletedCount } = await collection.deleteMany(
      { _id: { $in: old.map(({ _id }) => _id) }, ...isOld },
      timeLimit(),
    );
    deleted += deletedCount;
    if (old.length < atOnce) return deleted;
  }
}

/** Takes the Idempotency-Keys that have expired off their rides. Resolves with how many. */
export async function dropOldIdempotencyKeys(now: Date, pace: Pace): Promise<number> {
  const isOld = { 'idempotency.expiresAt': { $lt: now } };
  const order = { 'idempotency.expiresAt': 1 } as const;
  const page = { projection: { _id: 1 }, sort: order, hint: order, limit: atOnce, batchSize: atOnce } as const;
  for (let dropped = 0; ; ) {
    await pace();
    const old = await rides.find(isOld, { ...page, ...timeLimit() }).toArray();
    if (old.length === 0) return dropped;
    const which = { _id: { $in: old.map(({ _id }) => _id) }, ...isOld };
    dropped += (await rides.updateMany(which, { $unset: { idempotency: '' } }, timeLimit())).modifiedCount;
    if (old.length < atOnce) return dropped;
  }
}

/**
 * Deletes the positions of drivers who were last heard before a time, and of revoked drivers who are on no ride. Reads every
 * position, in the order of the ids: there is one for each driver. Resolves with how many were deleted.
 */
export async function deleteOldPositions(before: Date, pace: Pace): Promise<number> {
  const page = { projection: { seenAt: 1 }, sort: { _id: 1 }, limit: atOnce, batchSize: atOnce } as const;
  let deleted = 0;
  for (let after = ''; ; ) {
    await pace();
    const found = await positions.find({ _id: { $gt: after } }, { ...page, ...timeLimit() }).toArray();
    const ids = found.map(({ _id }) => _id);
    const revoked = await drivers
      .find(
        { _id: { $in: ids }, revokedAt: { $exists: true } },
        { projection: { _id: 1 }, batchSize: atOnce, ...timeLimit() },
      )
      .toArray();
    const isGone = [
      { _id: { $in: ids }, seenAt: { $lt: before } },
      { _id: { $in: revoked.map(({ _id }) => _id) }, rideId: { $exists: false } },
    ];
    deleted += (await positions.deleteMany({ $or: isGone }, timeLimit())).deletedCount;
    const last = ids.at(-1);
    if (!last || ids.length < atOnce) return deleted;
    after = last;
  }
}

/** Deletes the keys that were revoked before a time and never had a ride: no statement or sum names them. */
export async function deleteUnusedKeys(before: Date, pace: Pace): Promise<number> {
  const order = { revokedAt: 1, _id: 1 } as const;
  const page = { projection: { revokedAt: 1 }, sort: order, hint: order, limit: atOnce, batchSize: atOnce } as const;
  let deleted = 0;
  for (let start = {}; ; ) {
    await pace();
    const found = await keys
      .find<{ _id: string; revokedAt: Date }>({ revokedAt: { $lt: before } }, { ...page, ...start, ...timeLimit() })
      .toArray();
    const ids = found.map(({ _id }) => _id);
    const withSums = { _id: { $in: ids } };
    const summed = await rideSums
      .find(withSums, { projection: { _id: 1 }, batchSize: atOnce, ...timeLimit() })
      .toArray();
    const used = new Set(summed.map(({ _id }) => _id));
    const unused = ids.filter((keyId) => !used.has(keyId));
    for (const keyId of unused) {
      if (await rides.findOne({ keyId }, { projection: { _id: 1 }, hint: createdIndex, ...timeLimit() })) continue;
      deleted += (await keys.deleteOne({ _id: keyId, revokedAt: { $lt: before } }, timeLimit())).deletedCount;
    }
    const last = found.at(-1);
    if (!last || found.length < atOnce) return deleted;
    start = { min: { revokedAt: last.revokedAt, _id: `${last._id} ` } };
  }
}

type OldRide = Pick<Ride, '_id' | 'status' | 'statusAt' | 'unsettled'>;

/**
 * Deletes the rides that ended before a time, with their attempts, the oldest first. A ride stays until its day is summed
 * and its month closed, while it has not ended, and while an event of it is to be sent. Its attempts go first, so that none
 * is left without its ride. Resolves with how many were deleted.
 */
export async function deleteOldRides(before: Date, pace: Pace): Promise<number> {
  const neededFrom = await ridesNeededFrom();
  if (!neededFrom) return 0;
  const end = before < neededFrom ? before : neededFrom;
  let deleted = 0;
  // An id begins with the time of creation, so these were created, too, before that time.
  const page = { projection: { status: 1, statusAt: 1, unsettled: 1 }, sort: { _id: 1 }, limit: atOnce } as const;
  for (let after = ''; ; ) {
    await pace();
    const found = await rides
      .find<OldRide>(
        { _id: { $gt: after, $lt: firstRideId(end.getTime()) } },
        { ...page, batchSize: atOnce, ...timeLimit() },
      )
      .toArray();
    const old = found.filter(({ status, statusAt, unsettled }) => hasEnded(status) && statusAt < end && !unsettled);
    for (let start = 0; start < old.length; start += ridesAtOnce) {
      const ids = old.slice(start, start + ridesAtOnce).map(({ _id }) => _id);
      await pace();
      await attempts.deleteMany({ rideId: { $in: ids } }, timeLimit());
      deleted += (await rides.deleteMany({ _id: { $in: ids } }, timeLimit())).deletedCount;
    }
    const last = found.at(-1);
    if (!last || found.length < atOnce) return deleted;
    after = last._id;
  }
}
