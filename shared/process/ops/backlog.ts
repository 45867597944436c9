import type mongoose from 'mongoose';
import { mongoNow } from '../../base/mongo/clock.ts';
import type { Mode } from '../../base/terms.ts';
import { mails } from '../../mail/mail-row.ts';
import { messages } from '../../messages/message-row.ts';
import { rides, waitingToOpen } from '../../rides/ride.ts';
import { attempts } from '../../webhooks/attempts.ts';

/** The age of the oldest waiting item of each kind (s), or 0. From MongoDB, so a loss of Redis has no effect. */
interface BacklogAges {
  unsettledEvent: number;
  overdueTimer: number;
  overdueAttempt: number;
  overdueMail: number;
  overdueMessage: number;
}

const limitMs = 1_000;

/**
 * Reads the first entry of six partial indexes, which contain only pending work. With a mode, it reads the first ride
 * of this mode, so that a test key whose receiver hangs wakes no operator.
 */
export async function readBacklog(mode?: Mode): Promise<BacklogAges> {
  const hasDueAt = { dueAt: { $exists: true } };
  const ofMode = mode ? { mode } : {};
  const [now, unsettled, timer, opening, attempt, mail, message] = await Promise.all([
    mongoNow(),
    first(rides, 'unsettledSince', { ...ofMode, unsettled: { $gt: 0 } }),
    first(rides, 'nextDueAt', { ...ofMode, nextDueAt: { $exists: true } }),
    first(rides, 'biddingOpensAt', { ...ofMode, ...waitingToOpen }),
    first(attempts, 'dueAt', hasDueAt),
    first(mails, 'dueAt', hasDueAt),
    first(messages, 'dueAt', hasDueAt),
  ]);
  const ageOf = (at?: Date) => (at ? Math.max(0, now.getTime() - at.getTime()) / 1_000 : 0);
  return {
    unsettledEvent: ageOf(unsettled),
    overdueTimer: Math.max(ageOf(timer), ageOf(opening)),
    overdueAttempt: ageOf(attempt),
    overdueMail: ageOf(mail),
    overdueMessage: ageOf(message),
  };
}

/** The numbers of overdue items in MongoDB, each at most `countLimit`. */
export interface BacklogCounts {
  /** Rides that have events without an outcome. */
  rides: number;
  timers: number;
  /** Test events, redeliveries and events for further endpoints. */
  attempts: number;
  mails: number;
  /** Text messages to passengers and contacts. */
  messages: number;
}

/** Counting stops here, so that a large backlog is counted as quickly as a small one. */
export const countLimit = 10_000;

/** Counts the items that are due, by the indexes that `readBacklog` reads. */
export async function countBacklog(): Promise<BacklogCounts> {
  const isDue = { $lte: await mongoNow() };
  const [unsettled, timers, openings, dueAttempts, dueMails, dueMessages] = await Promise.all([
    count(rides, 'unsettledSince', { unsettled: { $gt: 0 } }),
    count(rides, 'nextDueAt', { nextDueAt: isDue }),
    count(rides, 'biddingOpensAt', { ...waitingToOpen, biddingOpensAt: isDue }),
    count(attempts, 'dueAt', { dueAt: isDue }),
    count(mails, 'dueAt', { dueAt: isDue }),
    count(messages, 'dueAt', { dueAt: isDue }),
  ]);
  return {
    rides: unsettled,
    timers: Math.min(timers + openings, countLimit),
    attempts: dueAttempts,
    mails: dueMails,
    messages: dueMessages,
  };
}

function count(collection: unknown, field: string, filter: object): Promise<number> {
  const hint = { [field]: 1, _id: 1 } as const;
  const options = { hint, limit: countLimit, maxTimeMS: limitMs };
  return (collection as mongoose.mongo.Collection).countDocuments(filter, options);
}

async function first(collection: unknown, field: string, filter: object): Promise<Date | undefined> {
  const index = { [field]: 1, _id: 1 } as const;
  const [found] = await (collection as mongoose.mongo.Collection)
    .find(filter, { projection: { _id: 0, [field]: 1 }, sort: index, hint: index, limit: 1, maxTimeMS: limitMs })
    .toArray();
  return found?.[field];
}
