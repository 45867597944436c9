import type mongoose from 'mongoose';
import { findAmong } from '../base/mongo/collection.ts';
import { durableWrites, timeLimit } from '../base/mongo/durability.ts';
import { rides } from '../rides/ride.ts';
import { type AttemptRecord, attempts } from './attempts.ts';

const contents = { headers: 1, body: 1, answer: 1, answerHeaders: 1, url: 1, address: 1, requestId: 1 } as const;

/**
 * Erases headers, body, response with its headers, URL, address and the id of the client's request of these attempts. Outcome, status, reason and times
 * stay. Skips resends that are not done. Idempotent.
 */
export async function eraseAttempts(filter: mongoose.mongo.Filter<AttemptRecord>): Promise<void> {
  await attempts.updateMany(
    { ...filter, dueAt: { $exists: false }, erasedAt: { $exists: false } },
    { $unset: contents, $currentDate: { erasedAt: true } },
    { writeConcern: durableWrites(), ...timeLimit() },
  );
}

/**
 * Erases the attempts of those of the given rides that are erased. Call it after inserting attempts, because their ride
 * may have been erased in the meantime. Erasing a ride erases its attempts both before and after it marks the ride, so
 * no attempt is missed in any order of the writes.
 */
export async function eraseAttemptsOfErased(rideIds: readonly string[]): Promise<void> {
  const erased = await findAmong(rides, rideIds, { _id: 1 }, { erasedAt: { $exists: true } });
  if (erased.length > 0) await eraseAttempts({ rideId: { $in: erased.map(({ _id }) => _id) } });
}
