import mongoose from 'mongoose';
import { AppError } from '../base/errors.ts';
import { firstAttemptId } from '../base/ids.ts';
import { collection } from '../base/mongo/collection.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import type { Mode } from '../base/terms.ts';
import type { DeliveryOutcome, EventName } from '../rides/ride-types.ts';

/** `event` is the one attempt of a ride's event. The other two are resends: somebody asked for them. */
export type AttemptKind = 'event' | 'test' | 'redelivery';

/** The phases of an attempt, in this order. `write` is the time from the open connection to the written request. */
export const attemptPhases = ['dns', 'connect', 'tls', 'write', 'answer'] as const;
export type AttemptPhase = (typeof attemptPhases)[number];

/** `waiting`: a resend that is not made yet. */
export const recordedOutcomes = ['waiting', 'delivered', 'failed', 'timeout', 'blocked', 'no_url'] as const;
export type RecordedOutcome = 'waiting' | DeliveryOutcome;

/**
 * One attempt, for the dashboard. Settling an event does not wait for the insert of its attempt: a crash may lose the attempt,
 * never the ride's own record. A resend is stored only here.
 */
export interface AttemptRecord {
  /** Begins with the time `at`: ids sort as the attempts do. */
  _id: string;
  accountId: string;
  keyId: string;
  mode: Mode;
  kind: AttemptKind;
  event: EventName;
  /** The ride and the number of its event; a test event has neither. */
  rideId?: string;
  seq?: number;
  /** When an event's attempt was made; of a resend: when it was asked for, or is planned. Never changes. */
  at: Date;
  /** Of a resend: when the attempt was made. */
  startedAt?: Date;

  outcome: RecordedOutcome;
  /** A short code (failure-reasons.ts). For a timeout it is the phase. */
  reason?: string;
  httpStatus?: number;
  /** The URL without its query, which may hold a secret of the receiver. */
  url?: string;
  /** The IP address that was called. None for `blocked`. */
  address?: string;
  /** As sent, in this order. None when nothing was sent. */
  headers?: Record<string, string>;
  body?: string;
  /** The first 1,024 bytes of the answer's body, or of what came instead of an HTTP answer. */
  answer?: string;
  durationMs?: number;
  /** Milliseconds, to a tenth. */
  phases?: Partial<Record<AttemptPhase, number>>;

  /** Of a resend: the request that asked for it. */
  requestId?: string;
  /** Of a resend: the form of the dashboard that asked for it (SentForm). */
  form?: string;
  /** Of a redelivery: until it is done, it is the only one of its event. Missing in those of earlier versions. */
  isOnlyResend?: true;
  /** Of a resend: the state of its job. */
  state?: 'waiting' | 'claimed' | 'done';
  /** Of a resend: the number of claims. */
  tries?: number;
  /** Of a resend, until it is done: when it is due. */
  dueAt?: Date;
  /** Of a resend: the claim of the run that is making the attempt. */
  claim?: { token: string; at: Date; until: Date };

  /** When the content of request and answer was erased (erase-attempts.ts). */
  erasedAt?: Date;
}

/** `strict: false`: the interface is the schema. */
const attemptSchema = new mongoose.Schema({ _id: String }, { strict: false, versionKey: false, autoIndex: false });
const ofAccount = { accountId: 1, outcome: 1, event: 1, _id: 1 } as const;
const ofKey = { accountId: 1, keyId: 1, outcome: 1, event: 1, _id: 1 } as const;
const ofRide = { rideId: 1, _id: 1 } as const;
attemptSchema.index(ofAccount);
attemptSchema.index(ofKey);
attemptSchema.index(ofRide, { partialFilterExpression: { rideId: { $exists: true } } });
// Resends that are not done yet: for the sweeper, and in the order of each ride.
const isPending = { dueAt: { $exists: true } };
attemptSchema.index({ dueAt: 1, _id: 1 }, { partialFilterExpression: isPending });
attemptSchema.index({ rideId: 1, dueAt: 1, _id: 1 }, { partialFilterExpression: isPending });
// At most one pending resend of each event, also when two people ask at the same moment. Pending resends of earlier versions
// may be duplicates: they lack the mark, so they do not hinder the creation of this index.
attemptSchema.index(
  { rideId: 1, seq: 1 },
  { unique: true, partialFilterExpression: { isOnlyResend: true, dueAt: { $exists: true } } },
);
// A form asks for each event once, however often it is sent.
attemptSchema.index(
  { form: 1, rideId: 1, seq: 1 },
  { unique: true, partialFilterExpression: { form: { $exists: true } } },
);

export const AttemptModel = mongoose.model('Attempt', attemptSchema);
export const attempts = collection<AttemptRecord>(AttemptModel);

/** The account for which attempts are read or asked for: those of another account count as unknown. */
export interface AccountOwner {
  accountId: string;
}

/** The account that asks for an attempt, its request (the X-Request-Id of the response) and its form (SentForm). */
export interface AskedBy extends AccountOwner {
  requestId?: string;
  form?: string;
}

/** An attempt in a list. */
export type AttemptSummary = Omit<AttemptRecord, 'headers' | 'body' | 'answer' | 'claim'>;
const summary = { headers: 0, body: 0, answer: 0, claim: 0 } as const;

export interface AttemptFilters {
  keyId?: string;
  outcome?: RecordedOutcome | readonly RecordedOutcome[];
  event?: EventName;
  /** Attempts of this moment and later. */
  from?: Date;
  /** Attempts before this moment. */
  to?: Date;
  /** The id of the last attempt of the page before. */
  after?: string;
  limit: number;
}

/** More than a ride can have without many redeliveries. */
const mostOfRide = 1_000;

/** One attempt of the account. Throws `not_found` for one that is unknown or of another account. */
export async function attemptOf(attemptId: string, { accountId }: AccountOwner): Promise<Omit<AttemptRecord, 'claim'>> {
  const found = await attempts.findOne({ _id: attemptId, accountId }, { projection: { claim: 0 }, ...timeLimit() });
  if (!found) throw new AppError('not_found');
  return found;
}

/** The attempt that an earlier sending of a form has asked for. */
export const attemptOfForm = async (
  form: string | undefined,
): Promise<Pick<AttemptRecord, '_id' | 'keyId' | 'dueAt'> | null> =>
  form === undefined
    ? null
    : attempts.findOne({ form }, { projection: { keyId: 1, dueAt: 1 }, sort: { _id: 1 }, ...timeLimit() });

/**
 * Inserts an attempt that is asked for, and resolves with it; with null where its form has asked for it before, or a resend
 * of the same event is pending.
 */
export const insertUnlessTaken = async (record: AttemptRecord): Promise<AttemptRecord | null> =>
  (await insertUntilTaken([record])) === 1 ? record : null;

/** Inserts attempts in their order up to the first of which this is so. Resolves with how many it has inserted. */
export async function insertUntilTaken(records: readonly AttemptRecord[]): Promise<number> {
  if (records.length === 0) return 0;
  try {
    return (await attempts.insertMany([...records], { ordered: true })).insertedCount;
  } catch (error) {
    const { MongoBulkWriteError } = mongoose.mongo;
    if (error instanceof MongoBulkWriteError && error.code === duplicateKey) return error.insertedCount;
    throw error;
  }
}

const duplicateKey = 11_000;

/** The attempts of a ride, the oldest first: its events' and the redeliveries. None for a ride of another account. */
export async function attemptsOfRide(
  rideId: string,
  { accountId }: AccountOwner,
): Promise<Omit<AttemptRecord, 'claim'>[]> {
  const options = { projection: { claim: 0 }, sort: { _id: 1 }, limit: mostOfRide, hint: ofRide } as const;
  return attempts.find({ rideId, accountId }, { ...options, ...timeLimit() }).toArray();
}

/**
 * The attempts of an account that pass the filters, the newest first. Pages that are read with `after` show each attempt
 * once, also while new ones are inserted. Costs the same for a thousand attempts and for millions: the filter names all
 * outcomes and events, so that MongoDB merges a few ranges of an index, each in the order of the ids.
 */
export async function listAttempts({ accountId }: AccountOwner, filters: AttemptFilters): Promise<AttemptSummary[]> {
  const { keyId, outcome = recordedOutcomes, event, limit } = filters;
  const filter = {
    accountId,
    ...(keyId !== undefined && { keyId }),
    outcome: { $in: [outcome].flat() },
    event: { $in: event ? [event] : eventNames },
    _id: idRange(filters),
  } as mongoose.mongo.Filter<AttemptRecord>;
  const options = {
    projection: summary,
    sort: { _id: -1 },
    limit,
    hint: keyId === undefined ? ofAccount : ofKey,
  } as const;
  return attempts.find<AttemptSummary>(filter, { ...options, ...timeLimit() }).toArray();
}

const eventNames: readonly EventName[] = ['offer.received', 'ride.status'];

/** In the order of texts, a backtick comes next after the underscore that all ids have here. */
const afterAllIds = 'att`';

function idRange({ from, to, after }: Pick<AttemptFilters, 'from' | 'to' | 'after'>): { $gte: string; $lt: string } {
  const ends = [after, to && firstAttemptId(to.getTime())].filter((end) => end !== undefined);
  return { $gte: firstAttemptId(from?.getTime() ?? 0), $lt: ends.sort()[0] ?? afterAllIds };
}
