import mongoose from 'mongoose';
import { AppError } from '../base/errors.ts';
import { collection, findAll, findAmong, isDuplicate, recordSchema } from '../base/mongo/collection.ts';
import { durableWrites, timeLimit } from '../base/mongo/durability.ts';
import type { Mode, SentEvent } from '../base/terms.ts';
import { statusIn } from '../rides/events.ts';
import { rides } from '../rides/ride.ts';
import type { DeliveryOutcome, RideEvent, RideStatus } from '../rides/ride-types.ts';

/**
 * The kind of an attempt. `event` is the one automatic attempt of an event; a further endpoint has its own, with
 * `endpointId`, which waits and runs like a resend. The other two are resends, which a person requested.
 */
export type AttemptKind = 'event' | 'test' | 'redelivery';

/** The phases of an attempt, in order. `write` is the time from the open connection to the written request. */
export const attemptPhases = ['dns', 'connect', 'tls', 'write', 'answer'] as const;
export type AttemptPhase = (typeof attemptPhases)[number];

/** The outcomes of attempts. `waiting`: a pending resend. */
export const recordedOutcomes = ['waiting', 'delivered', 'failed', 'timeout', 'blocked', 'no_url'] as const;
export type RecordedOutcome = 'waiting' | DeliveryOutcome;

/**
 * One attempt, for the dashboard. An event is settled without waiting for the insert of its attempt, so a crash may
 * lose the attempt, but never the result on the ride. A resend is stored only here.
 */
export interface AttemptRecord {
  /** Begins with the time `at`, so ids sort by time. */
  _id: string;
  accountId: string;
  keyId: string;
  mode: Mode;
  kind: AttemptKind;
  event: SentEvent;
  /** The status that a `ride.status` event reports. */
  rideStatus?: RideStatus;
  /** The further endpoint that it goes to; missing for the default URL. */
  endpointId?: string;
  /** The ride and the number of its event; a test event has neither. */
  rideId?: string;
  seq?: number;
  /** For `offer.withdrawn`: its offer. It has no number. */
  offerId?: string;
  /** The time of an event's attempt. For a resend: the time for which it was requested or planned. Never changes. */
  at: Date;
  /** For a resend: the time of the attempt. */
  startedAt?: Date;

  outcome: RecordedOutcome;
  /** A short code (failure-reasons.ts). For a timeout: the phase. */
  reason?: string;
  httpStatus?: number;
  /** The URL without its query, which may contain a secret of the receiver. */
  url?: string;
  /** The IP address that was called. Missing for `blocked`. */
  address?: string;
  /** The headers in the order in which they were sent. Missing if nothing was sent. */
  headers?: Record<string, string>;
  body?: string;
  /** The text of the first 1,024 bytes of the response body, or of the received bytes if they are not an HTTP response. */
  answer?: string;
  /** The headers of the answer could not be read to their end, so `answer` begins with its status line. */
  isRawHead?: true;
  /** The headers of the answer that help to find a fault (shared/outbound/post.ts). */
  answerHeaders?: Record<string, string>;
  durationMs?: number;
  /** The duration of each phase, in ms to a tenth. */
  phases?: Partial<Record<AttemptPhase, number>>;

  /** For a resend: the id of the request for it. */
  requestId?: string;
  /** For a resend: the id of the dashboard form that requested it (SentForm). */
  form?: string;
  /** For a redelivery: its event has no other pending one for this endpoint (the unique indexes below). */
  isOnlyResend?: true;
  onlyResendTo?: string;
  /** For a resend: the state of its job. */
  state?: 'waiting' | 'claimed' | 'done';
  /** For a resend: the number of claims. */
  tries?: number;
  /** For a resend that is not done: its due time. */
  dueAt?: Date;
  /** For a resend: the claim of the run that is making the attempt. */
  claim?: { token: string; at: Date; until: Date };

  /** The time at which the contents of request and response were erased (eraseAttempts). */
  erasedAt?: Date;
}

const attemptSchema = recordSchema();
export const ofAccount = { accountId: 1, outcome: 1, event: 1, _id: 1 } as const;
export const ofKey = { accountId: 1, keyId: 1, outcome: 1, event: 1, _id: 1 } as const;
/** Orders the attempts of a ride, oldest first. */
export const ofRide = { rideId: 1, _id: 1 } as const;
attemptSchema.index(ofAccount);
attemptSchema.index(ofKey);
attemptSchema.index(ofRide, { partialFilterExpression: { rideId: { $exists: true } } });
// Resends that are not done: for the sweeper, and in order for each ride.
const isPending = { dueAt: { $exists: true } };
attemptSchema.index({ dueAt: 1, _id: 1 }, { partialFilterExpression: isPending });
attemptSchema.index({ rideId: 1, dueAt: 1, _id: 1 }, { partialFilterExpression: isPending });
// At most one pending redelivery per event, even if two people request it at the same time.
attemptSchema.index(
  { rideId: 1, seq: 1 },
  { unique: true, partialFilterExpression: { isOnlyResend: true, dueAt: { $exists: true } } },
);
attemptSchema.index(
  { rideId: 1, seq: 1, onlyResendTo: 1 },
  { unique: true, partialFilterExpression: { onlyResendTo: { $exists: true }, dueAt: { $exists: true } } },
);
// A form requests each event once, even if it is sent repeatedly.
attemptSchema.index(
  { form: 1, rideId: 1, seq: 1 },
  { unique: true, partialFilterExpression: { form: { $exists: true } } },
);

export const AttemptModel = mongoose.model('Attempt', attemptSchema);
export const attempts = collection<AttemptRecord>(AttemptModel);

/** The account for which attempts are read or requested. Attempts of another account count as unknown. */
export interface AccountOwner {
  accountId: string;
}

/** The account that requests a resend, with the request (X-Request-Id of its response) and the form (SentForm). */
export interface Requester extends AccountOwner {
  requestId?: string;
  form?: string;
}

/** An attempt as shown in a list. */
export type AttemptSummary = Omit<AttemptRecord, 'headers' | 'body' | 'answer' | 'answerHeaders' | 'claim'>;
export const summary = { headers: 0, body: 0, answer: 0, answerHeaders: 0, claim: 0 } as const;

/** At most this many attempts of a ride are read. Only many redeliveries make more. */
const mostOfRide = 1_000;
const mostOfEvent = 100;

/** The fields of an attempt that waits until a time. */
export const waitingUntil = (dueAt: Date) => ({ outcome: 'waiting', state: 'waiting', tries: 0, dueAt }) as const;

/** The fields of an attempt that describe its event. */
export function eventFields({ event, seq, body }: Pick<RideEvent, 'event' | 'seq' | 'body'>) {
  const rideStatus = statusIn(event, body);
  return { event, seq, ...(rideStatus && { rideStatus }) };
}

/** One attempt of the account. Throws `not_found` if it is unknown or of another account. */
export async function attemptOf(attemptId: string, { accountId }: AccountOwner): Promise<Omit<AttemptRecord, 'claim'>> {
  const found = await attempts.findOne({ _id: attemptId, accountId }, { projection: { claim: 0 }, ...timeLimit() });
  if (!found) throw new AppError('not_found');
  return found;
}

/** The attempt that an earlier request with the same form created. */
export const attemptOfForm = async (
  form: string | undefined,
): Promise<Pick<AttemptRecord, '_id' | 'keyId' | 'endpointId' | 'dueAt'> | null> =>
  form === undefined
    ? null
    : attempts.findOne(
        { form },
        { projection: { keyId: 1, endpointId: 1, dueAt: 1 }, sort: { _id: 1 }, ...timeLimit() },
      );

/** Inserts a requested attempt. Null if its form has requested it, or a resend of the event is pending. */
export const insertUnlessDuplicate = async (record: AttemptRecord): Promise<AttemptRecord | null> =>
  (await insertUntilDuplicate([record])) === 1 ? record : null;

/**
 * Inserts attempts in order, up to the first that its form has already requested, or whose event has a pending resend.
 * Resolves with the number of inserted attempts.
 */
export async function insertUntilDuplicate(records: readonly AttemptRecord[]): Promise<number> {
  if (records.length === 0) return 0;
  try {
    return (await attempts.insertMany([...records], { ordered: true })).insertedCount;
  } catch (error) {
    if (isDuplicate(error)) return (error as mongoose.mongo.MongoBulkWriteError).insertedCount;
    throw error;
  }
}

/** Attempts of a ride of the account, oldest first. Empty for a ride of another account. */
const findOfRide = <Found extends object>(
  filter: { rideId: string } & mongoose.mongo.Filter<AttemptRecord>,
  { accountId }: AccountOwner,
  options: { projection: object; limit: number },
): Promise<Found[]> =>
  findAll(attempts, { ...filter, accountId }, { ...options, sort: { _id: 1 }, hint: ofRide, ...timeLimit() });

/** All attempts of a ride: of its events, and redeliveries. */
export const attemptsOfRide = (rideId: string, owner: AccountOwner): Promise<Omit<AttemptRecord, 'claim'>[]> =>
  findOfRide({ rideId }, owner, { projection: { claim: 0 }, limit: mostOfRide });

/** The resends of a ride's events to the URL of the ride or key, in the order in which they were requested. */
export const resendsOfRide = (rideId: string, owner: AccountOwner): Promise<AttemptSummary[]> => {
  const filter = { rideId, kind: 'redelivery', endpointId: { $exists: false } } as const;
  return findOfRide(filter, owner, { projection: summary, limit: mostOfRide });
};

/** The attempts of one event of a ride. */
export const attemptsOfEvent = (
  { rideId, seq }: { rideId: string; seq: number },
  owner: AccountOwner,
): Promise<AttemptSummary[]> => findOfRide({ rideId, seq }, owner, { projection: summary, limit: mostOfEvent });

const contents = { headers: 1, body: 1, answer: 1, answerHeaders: 1, url: 1, address: 1, requestId: 1 } as const;

/**
 * Erases headers, body, response with its headers, URL, address and the id of the client's request of these attempts.
 * Outcome, status, reason and times stay. Skips resends that are not done. Idempotent.
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
