import type mongoose from 'mongoose';
import { durableWrites, timeLimit } from '../base/mongo/durability.ts';
import { rides } from '../rides/ride.ts';
import { type AttemptRecord, attempts } from './attempts.ts';

const contents = { headers: 1, body: 1, answer: 1, url: 1, address: 1 } as const;

/**
 * Erases what was sent and answered in these attempts, and where to. Outcome, status, reason and times stay. An attempt that
 * is still to be made keeps what it needs. Idempotent.
 */
export async function eraseAttempts(which: mongoose.mongo.Filter<AttemptRecord>): Promise<void> {
  await attempts.updateMany(
    { ...which, dueAt: { $exists: false }, erasedAt: { $exists: false } },
    { $unset: contents, $currentDate: { erasedAt: true } },
    { writeConcern: durableWrites(), ...timeLimit() },
  );
}

/**
 * Erases the attempts of those of these rides that are erased. Called after attempts were written, since their ride may have
 * been erased in the meantime. Together with the erasure, which erases attempts before and after it marks the ride, every
 * attempt is found, whichever write is first.
 */
export async function eraseAttemptsOfErased(rideIds: readonly string[]): Promise<void> {
  const unique = [...new Set(rideIds)];
  if (unique.length === 0) return;
  const isErased = { _id: { $in: unique }, erasedAt: { $exists: true } };
  const options = { projection: { _id: 1 }, batchSize: unique.length + 1, ...timeLimit() };
  const erased = await rides.find(isErased, options).toArray();
  if (erased.length > 0) await eraseAttempts({ rideId: { $in: erased.map(({ _id }) => _id) } });
}
