import { setTimeout } from 'node:timers/promises';
import type { Context } from '../base/context.ts';
import { canBeTexted } from '../base/e164.ts';
import { AppError } from '../base/errors.ts';
import { newRideId, sha256 } from '../base/ids.ts';
import { rideStatuses } from '../base/metrics.ts';
import { batchedFind, batchedInsert } from '../base/mongo/batch.ts';
import { isDuplicate } from '../base/mongo/collection.ts';
import { tryLimitMs } from '../base/mongo/connect-mongo.ts';
import { committedReads } from '../base/mongo/durability.ts';
import { isOutageOfMongo, wasNeverSent } from '../base/mongo/outage.ts';
import { publishNewRide } from '../base/wake.ts';
import type { Caller } from '../keys/find-caller.ts';
import { fieldsIn, projectionOf } from './fields.ts';
import { newDocument } from './new-document.ts';
import { rides } from './ride.ts';
import { enqueueNextTimer } from './ride-jobs.ts';
import type { Origin, Ride, RideRequest, TestScenario } from './ride-types.ts';

export interface NewRide {
  key: Caller;
  request: RideRequest;
  scenario?: TestScenario;
  idempotencyKey?: string;
  origin?: Origin;
}

const creationFields = {
  fare: 1,
  firstFare: 1,
  firstTerms: 1,
  carType: 1,
  distanceKm: 1,
  trackToken: 1,
  mode: 1,
  ...projectionOf(fieldsIn('creation')),
  biddingOpensAt: 1,
  idempotency: 1,
  erasedAt: 1,
  timers: 1,
} as const;
/** The fields of a ride that the response to its creation shows. */
export type CreationFields = Pick<
  Ride,
  '_id' | Exclude<keyof typeof creationFields, 'idempotency' | 'erasedAt' | 'timers'>
> & {
  /** An earlier request with the same Idempotency-Key created the ride. */
  isReplay?: true;
};

const insertRide = batchedInsert(rides);
const findId = batchedFind<Ride>(rides, '_id', {});

/** The insert is retried for at most this long, because a request must be answered within 3 s. */
const deadlineMs = 3_000;
const retryPauseMs = 50;
const checkPauseMs = 1_000;
/** A repeat with the same Idempotency-Key gets the same ride for this long. */
export const idempotencyLifeMs = 24 * 3_600_000;

/**
 * Creates a ride (contract, section 4.1). One call creates at most one ride, even if the connection to MongoDB breaks
 * during the insert, because every retry inserts the same `_id`. Resolves when the ride is in MongoDB's journal, or
 * with the existing ride if another request with the same Idempotency-Key was first. The job of the first timer is
 * added after the insert and cannot fail the creation.
 *
 * Throws `idempotency_conflict` if the Idempotency-Key belongs to a different request of the API key, `ride_erased` if its
 * ride is erased, and `unavailable` or UnconfirmedRide after about 3 s without MongoDB.
 */
export async function createRide(ctx: Context, input: NewRide): Promise<CreationFields> {
  const ride = documentOf(ctx, input);
  const existing = await insertWithRetries(ride);
  if (existing) return replayOf(ctx, existing, ride.idempotency?.requestHash);
  const { requestId } = ride.origin ?? {};
  ctx.log.info(
    { requestId, rideId: ride._id, keyId: ride.keyId, mode: ride.mode, scenario: ride.scenario },
    'ride created',
  );
  rideStatuses.inc({ status: 'bidding', mode: ride.mode });
  publishNewRide(ctx, ride);
  await enqueueNextTimer(ctx, ride);
  return ride;
}

/**
 * Finds the ride that an earlier request with this Idempotency-Key created; null if none did. Throws
 * `idempotency_conflict` if that request was different, and `ride_erased` if its ride is erased. Called before the rate limit, because replays are not charged.
 */
export async function findReplay(ctx: Context, input: NewRide): Promise<CreationFields | null> {
  if (!input.idempotencyKey) return null;
  const existing = await findByIdempotencyKey(input.key.keyId, input.idempotencyKey);
  if (!existing || isExpired(existing, ctx.now())) return null;
  return replayOf(ctx, existing, requestHash(input));
}

function documentOf(ctx: Context, input: NewRide): Ride {
  const { key, request, scenario, idempotencyKey, origin } = input;
  const now = ctx.now();
  const { keyId, accountId, mode } = key;
  const idempotency = idempotencyKey && {
    idempotency: { key: idempotencyKey, requestHash: requestHash(input), expiresAt: new Date(now + idempotencyLifeMs) },
  };
  return newDocument(
    {
      _id: newRideId(now),
      keyId,
      accountId,
      mode,
      scenario,
      origin,
      createdAt: new Date(now),
      request: withDefaultOf(key, request),
      ...idempotency,
    },
    ctx.config,
  );
}

/**
 * The key's default applies only to a passenger who can be texted: the partner did not ask for texts. It is no part of
 * the request that repeats with the same Idempotency-Key are compared with.
 */
const withDefaultOf = ({ textsPassenger }: Caller, request: RideRequest): RideRequest =>
  textsPassenger && request.notify?.passenger === undefined && canBeTexted(request.passenger?.phone)
    ? { ...request, notify: { ...request.notify, passenger: true } }
    : request;

/** A request with the `default` scenario counts as equal to a request without a scenario. */
const requestHash = ({ request, scenario = 'default' }: NewRide): string =>
  sha256(JSON.stringify([request, scenario === 'default' ? null : scenario]));

type ExistingRide = CreationFields & Pick<Ride, 'idempotency' | 'erasedAt' | 'timers'>;

const erasedMark = 'erased ';
/** Replaces the Idempotency-Key of an erased ride, which may name a person. No key equals it: it has a space. Pure. */
export const erasedIdempotencyKey = (keyId: string, key: string): string =>
  key.startsWith(erasedMark) ? key : `${erasedMark}${sha256(`${keyId} ${key}`)}`;

/** The id of the account's ride that one of these keys created with an Idempotency-Key in the last 24 h, or null. */
export async function findCreated(
  { accountId }: { accountId: string },
  keyIds: readonly string[],
  idempotencyKey: string,
): Promise<string | null> {
  const filter = { keyId: { $in: [...keyIds] }, 'idempotency.key': idempotencyKey, accountId };
  const found = await rides.findOne(filter, { ...committedReads(), projection: { _id: 1 } });
  return found?._id ?? null;
}

function findByIdempotencyKey(keyId: string, key: string): Promise<ExistingRide | null> {
  // Reads only what no failover can roll back, because a replay is answered 201 from this ride.
  const options = { ...committedReads(), projection: creationFields };
  return rides.findOne<ExistingRide>(
    { keyId, 'idempotency.key': { $in: [key, erasedIdempotencyKey(keyId, key)] } },
    options,
  );
}

const isExpired = (ride: ExistingRide, nowMs: number): boolean =>
  ride.idempotency !== undefined && ride.idempotency.expiresAt.getTime() <= nowMs;

/** The answer to a replay. Also adds the next job: the first request may have failed before it did. */
async function replayOf(ctx: Context, existing: ExistingRide, hash: string | undefined): Promise<CreationFields> {
  if (existing.erasedAt) throw new AppError('ride_erased');
  if (existing.idempotency?.requestHash !== hash) throw new AppError('idempotency_conflict');
  await enqueueNextTimer(ctx, existing);
  return { ...existing, isReplay: true };
}

/**
 * Inserts the ride, with retries until the deadline. Resolves with null if it is inserted, or with the ride that
 * already has its Idempotency-Key. Throws `unavailable` if no insert was sent to MongoDB, and UnconfirmedRide if one
 * may have succeeded.
 */
async function insertWithRetries(ride: Ride): Promise<ExistingRide | null> {
  const startedAt = performance.now();
  let mayBeInserted = false;
  // Starts no try that could outlast the deadline, because its outcome would be unknown.
  while (performance.now() - startedAt < deadlineMs - tryLimitMs) {
    try {
      const holder = await tryInsert(ride);
      if (holder !== 'retry') return holder;
    } catch (error) {
      if (!isOutageOfMongo(error)) throw error;
      mayBeInserted ||= !wasNeverSent(error);
    }
    await setTimeout(retryPauseMs);
  }
  throw mayBeInserted ? new UnconfirmedRide(ride._id) : new AppError('unavailable');
}

/** Thrown if the outcome of the insert is unknown: the connection broke before MongoDB acknowledged it. */
export class UnconfirmedRide extends AppError {
  readonly #rideId: string;

  constructor(rideId: string) {
    super('unconfirmed');
    this.#rideId = rideId;
  }

  /**
   * Resolves when MongoDB answers again, with true if the ride was created. If MongoDB does not answer within an hour,
   * the ride counts as created. Reads twice, a second apart, because a server that hung may still process the insert.
   */
  async wasCreated(): Promise<boolean> {
    const giveUpAt = performance.now() + 3_600_000;
    for (let answers = 0; answers < 2 && performance.now() < giveUpAt; ) {
      await setTimeout(checkPauseMs, undefined, { ref: false });
      try {
        if (await findId(this.#rideId)) return true;
        answers += 1;
      } catch {
        // MongoDB is still unavailable: read again.
      }
    }
    return performance.now() >= giveUpAt;
  }
}

async function tryInsert(ride: Ride): Promise<ExistingRide | null | 'retry'> {
  try {
    return await insertRide(ride);
  } catch (error) {
    if (isDuplicate(error)) return holderOfIdempotencyKey(ride);
    throw error;
  }
}

/** The ride with this Idempotency-Key; null if it is this one, by an earlier try; `retry` if the key is free again. */
async function holderOfIdempotencyKey(ride: Ride): Promise<ExistingRide | null | 'retry'> {
  if (!ride.idempotency) return null;
  const holder = await findByIdempotencyKey(ride.keyId, ride.idempotency.key);
  if (!holder) return 'retry';
  if (holder._id === ride._id) return null;
  if (!isExpired(holder, ride.createdAt.getTime())) return holder;
  await rides.updateOne(
    { _id: holder._id, 'idempotency.expiresAt': holder.idempotency?.expiresAt },
    { $unset: { idempotency: '' } },
  );
  return 'retry';
}
