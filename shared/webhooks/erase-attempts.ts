import type mongoose from 'mongoose';
import { durableWrites, timeLimit } from '../mongo/durability.ts';
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
