import { setTimeout } from 'node:timers/promises';
import mongoose from 'mongoose';
import { batchedFind, batchedInsert } from '../batch.ts';
import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { newRideId, newTrackToken, sha256 } from '../ids.ts';
import type { Mode } from '../mode.ts';
import { tryLimitMs } from '../mongo/connection.ts';
import { committedReads } from '../mongo/durability.ts';
import { isOutageOfMongo, wasNeverSent } from '../mongo/outage.ts';
import { simulatedTimers } from './decide.ts';
import { rides } from './ride.ts';
import type { Ride, RideRequest, TestScenario, Timer } from './ride-types.ts';
import { earliest, enqueueNextTimer } from './timers.ts';

export interface NewRide {
  key: { keyId: string; accountId: string; mode: Mode };
  request: RideRequest;
  scenario?: TestScenario;
  idempotencyKey?: string;
}

const creationFields = { fare: 1, carType: 1, distanceKm: 1, trackToken: 1, mode: 1, idempotency: 1 } as const;
/** What a creation is answered with. */
export type CreationFields = Pick<Ride, '_id' | 'fare' | 'carType' | 'distanceKm' | 'trackToken' | 'mode'>;

const insertRide = batchedInsert(rides);
const findId = batchedFind<Ride>(rides, '_id', {});

/** A request is answered within 3 s, so that so long its insert is tried again. */
const deadlineMs = 3_000;
const retryPauseMs = 50;
const lookAgainMs = 1_000;
const idempotencyLifeMs = 24 * 3_600_000;

/**
 * Creates a ride (contract, section 4.1): one at most for each call, also when the connection to MongoDB breaks during
 * the insert, because every try inserts the same `_id`. Resolves only when the ride is in the journal. Throws
 * `idempotency_conflict` when the Idempotency-Key belongs to another request of the key, `unavailable` or
 * UnconfirmedRide when MongoDB stays away. The next timer's job is added after the insert and never fails it.
 */
export async function createRide(ctx: Context, input: NewRide): Promise<CreationFields> {
  const ride = newDocument(ctx, input);
  const existing = await insertOnce(ride);
  if (existing) return replayOf(existing, ride.idempotency?.requestHash);
  ctx.log.info({ rideId: ride._id, keyId: ride.keyId, mode: ride.mode, scenario: ride.scenario }, 'ride created');
  await enqueueNextTimer(ctx, ride);
  return ride;
}

/**
 * The ride that an earlier request with this Idempotency-Key made, or null. Throws `idempotency_conflict` where that
 * request was another one. It is asked before the rate limit, since a replay is not charged.
 */
export async function findReplay(ctx: Context, input: NewRide): Promise<CreationFields | null> {
  if (!input.idempotencyKey) return null;
  const existing = await findByIdempotencyKey(input.key.keyId, input.idempotencyKey);
  if (!existing || isExpired(existing, ctx.now())) return null;
  return replayOf(existing, requestHash(input));
}

function newDocument(ctx: Context, input: NewRide): Ride {
  const { key, request, scenario, idempotencyKey } = input;
  const now = ctx.now();
  const createdAt = new Date(now);
  const biddingEndsAt = new Date(now + ctx.config.biddingTimeoutMs);
  const expire: Timer = { name: 'expire', dueAt: biddingEndsAt };
  const timers = [expire, ...simulatedTimers({ mode: key.mode, scenario }, 'create', createdAt, ctx.config)];
  return {
    _id: newRideId(now),
    keyId: key.keyId,
    accountId: key.accountId,
    mode: key.mode,
    ...request,
    ...(scenario && { scenario }),
    ...(idempotencyKey && {
      idempotency: {
        key: idempotencyKey,
        requestHash: requestHash(input),
        expiresAt: new Date(now + idempotencyLifeMs),
      },
    }),
    trackToken: newTrackToken(),
    createdAt,
    biddingEndsAt,
    rev: 0,
    status: 'bidding',
    statusAt: createdAt,
    offers: [],
    timers,
    nextDueAt: earliest(timers),
    events: [],
    seq: 0,
    settledSeq: 0,
    unsettled: 0,
  };
}

/** The `default` scenario is the same request, named or not. */
const requestHash = ({ request, scenario = 'default' }: NewRide): string =>
  sha256(JSON.stringify([request, scenario === 'default' ? null : scenario]));

type Existing = CreationFields & Pick<Ride, 'idempotency'>;

function findByIdempotencyKey(keyId: string, key: string): Promise<Existing | null> {
  // A repeat is answered 201 from it, so it must not be lost with a primary that nobody has followed.
  const options = { ...committedReads(), projection: creationFields };
  return rides.findOne<Existing>({ keyId, 'idempotency.key': key }, options);
}

const isExpired = (ride: Existing, nowMs: number): boolean =>
  ride.idempotency !== undefined && ride.idempotency.expiresAt.getTime() <= nowMs;

function replayOf(existing: Existing, hash: string | undefined): CreationFields {
  if (existing.idempotency?.requestHash !== hash) throw new AppError('idempotency_conflict');
  return existing;
}

/**
 * Null when the ride is in the database, or the ride that already has its Idempotency-Key. Throws `unavailable` where
 * MongoDB was never told of the ride, and UnconfirmedRide where it may have it all the same.
 */
async function insertOnce(ride: Ride): Promise<Existing | null> {
  const startedAt = performance.now();
  let mayHaveArrived = false;
  // No try begins that could not end by itself in time: of one that is cut off, nobody knows what came of it.
  while (performance.now() - startedAt < deadlineMs - tryLimitMs) {
    try {
      const holder = await tryInsert(ride);
      if (holder !== 'gone') return holder;
    } catch (error) {
      if (!isOutageOfMongo(error)) throw error;
      mayHaveArrived ||= !wasNeverSent(error);
    }
    await setTimeout(retryPauseMs);
  }
  throw mayHaveArrived ? new UnconfirmedRide(ride._id) : new AppError('unavailable');
}

/** MongoDB may have the ride all the same: it broke off before it said so. */
export class UnconfirmedRide extends AppError {
  readonly #rideId: string;

  constructor(rideId: string) {
    super('unconfirmed');
    this.#rideId = rideId;
  }

  /**
   * Whether the ride was made after all: known when MongoDB answers again, or taken for made when it does not within an
   * hour. A server that hung may still do what it was sent, so it is asked twice.
   */
  async isMade(): Promise<boolean> {
    const giveUpAt = performance.now() + 3_600_000;
    for (let answers = 0; answers < 2 && performance.now() < giveUpAt; ) {
      await setTimeout(lookAgainMs, undefined, { ref: false });
      try {
        if (await findId(this.#rideId)) return true;
        answers += 1;
      } catch {
        // Asked again.
      }
    }
    return performance.now() >= giveUpAt;
  }
}

async function tryInsert(ride: Ride): Promise<Existing | null | 'gone'> {
  try {
    return await insertRide(ride);
  } catch (error) {
    if (isDuplicate(error)) return holderOfIdempotencyKey(ride);
    throw error;
  }
}

/** Null where the duplicate is this very ride: an earlier try had arrived after all. */
async function holderOfIdempotencyKey(ride: Ride): Promise<Existing | null | 'gone'> {
  if (!ride.idempotency) return null;
  const holder = await findByIdempotencyKey(ride.keyId, ride.idempotency.key);
  if (!holder) return 'gone';
  if (holder._id === ride._id) return null;
  if (!isExpired(holder, ride.createdAt.getTime())) return holder;
  await rides.updateOne(
    { _id: holder._id, 'idempotency.expiresAt': holder.idempotency?.expiresAt },
    { $unset: { idempotency: '' } },
  );
  return 'gone';
}

const isDuplicate = (error: unknown): boolean =>
  error instanceof mongoose.mongo.MongoServerError && error.code === 11_000;
