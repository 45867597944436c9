import type { Context } from '../../shared/base/context.ts';
import { batchedUpdate } from '../../shared/base/mongo/batch.ts';
import { committedWrites } from '../../shared/base/mongo/durability.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Outbox } from '../../shared/rides/ride-jobs.ts';
import type { Claim, Ride, RideEvent } from '../../shared/rides/ride-types.ts';
import { earlier, isAhead, isFreeOrOwn, outwaited } from './ahead.ts';

/** How long a claim lasts: 8 s for the attempt, and time to record its outcome. */
export const claimMs = 12_000;

/** The time by which claims end: a step ahead of MongoDB's clock does not end a claim that was made before it. */
export const claimClock = (ctx: Pick<Context, 'nowBeforeSteps'>): Date => new Date(ctx.nowBeforeSteps(claimMs + 1_000));

/**
 * A claim this old is renewed before a request is written under it. Counted from the question to MongoDB, since the process
 * may have been paused before it saw the answer. Of the claim's 12 s, the attempt's 8 s and a second to record its outcome
 * are left then, even when MongoDB takes over a second to answer.
 */
const maxClaimAgeMs = 3_000;

/** Connecting may take this long after MongoDB's answer. */
const maxConnectMs = 1_000;

/** A claim that this run holds: on a ride's event, or on an attempt that is asked for by hand. */
export interface Held {
  claim: { at: Date };
  /** When this process asked for the claim. The claim is at most this old. */
  askedAt: Moment;
}

/** An event that this run has claimed, with what an attempt needs of its ride. */
export interface Claimed extends Held {
  ride: Pick<Ride, '_id' | 'keyId' | 'accountId' | 'mode' | 'webhookUrl' | 'origin' | 'seq'>;
  event: RideEvent;
  claim: Claim;
}

type ClaimedRide = Claimed['ride'] & { claim?: Claim; event?: RideEvent };

/**
 * Waits for the write concern `committedWrites`: the event precedes the claim in the oplog, so an acknowledged claim
 * proves that no failover takes the event back. A crash may forget the claim itself: then it is taken again.
 */
const claim = batchedUpdate<Ride, ClaimedRide>(
  rides,
  // Events are numbered from 1 without a gap, so the event after number settledSeq has the index settledSeq.
  {
    keyId: 1,
    accountId: 1,
    mode: 1,
    webhookUrl: 1,
    origin: 1,
    seq: 1,
    claim: 1,
    event: { $arrayElemAt: ['$events', '$settledSeq'] },
  },
  { writeConcern: committedWrites },
);

/**
 * Claims event number seq of a ride for one run of a job, by MongoDB's clock. Resolves with the event, or null when it is
 * not the oldest unsettled one or another run holds it. Claiming again with the same token renews the claim. A claim that lies
 * ahead of MongoDB's clock is taken over once this process has waited for its length (ahead.ts), and another one only if it
 * has ended by `endedBy` (claimClock) too.
 */
export async function claimEvent(rideId: string, seq: number, token: string, endedBy?: Date): Promise<Claimed | null> {
  const askedAt = now();
  const isOldestUnsettled = [{ $eq: ['$settledSeq', seq - 1] }, { $gte: ['$seq', seq] }];
  const claimed = { seq, token, at: '$$NOW', until: { $add: ['$$NOW', claimMs] } };
  // In the filter, these conditions would cost MongoDB as much again: it plans a query for more than `_id`.
  const mayClaim = { $and: [...isOldestUnsettled, isFreeOrOwn(token, outwaited(rideId), endedBy)] };
  const change = [{ $set: { claim: { $cond: [mayClaim, claimed, '$claim'] } } }];
  const ride = await claim({ filter: { _id: rideId }, change });
  // While this run holds the claim, the event after the last settled one is this event.
  if (!ride?.event || ride.claim?.token !== token || ride.claim.seq !== seq) return null;
  return { ride, event: ride.event, claim: ride.claim, askedAt };
}

/** A claim that can be renewed while an attempt connects. */
export type RenewableClaim = ReturnType<typeof renewableClaim>;

/** `claimAgain` claims the same once more, and resolves with null when another run holds it. */
export function renewableClaim(held: Held, claimAgain: () => Promise<Held | null>) {
  let { claim, askedAt } = held;
  let answeredAt = now();
  return {
    /** The claim while a request may be written under it, else null. */
    ifFresh: (): Held['claim'] | null =>
      ageMs(askedAt) <= maxClaimAgeMs && ageMs(answeredAt) <= maxConnectMs ? claim : null,
    /** Claims again. False when another run holds it. */
    renew: async (): Promise<boolean> => {
      const renewed = await claimAgain();
      if (renewed) ({ claim, askedAt } = renewed);
      answeredAt = now();
      return renewed !== null;
    },
  };
}

/** A moment by both clocks (ms): the monotonic clock stops while the machine sleeps, the wall clock can be set. */
export interface Moment {
  monotonic: number;
  wall: number;
}

export const now = (): Moment => ({ monotonic: performance.now(), wall: Date.now() });

/** The time since a moment, by the clock that shows more. */
export const ageMs = ({ monotonic, wall }: Moment): number =>
  Math.max(performance.now() - monotonic, Date.now() - wall);

/** Ends a claim under which nothing was sent. */
export async function releaseClaim(rideId: string, token: string): Promise<void> {
  await rides.updateOne({ _id: rideId, 'claim.token': token }, { $unset: { claim: '' } }, { writeConcern: { w: 1 } });
}

/** Extends a claim to `forMs` from now without an attempt, so that no run tries the event before that. */
export async function extendClaim(rideId: string, token: string, forMs: number): Promise<void> {
  const until = { $add: ['$$NOW', Math.ceil(forMs)] };
  const change = [{ $set: { 'claim.until': until } }];
  await rides.updateOne({ _id: rideId, 'claim.token': token }, change, { writeConcern: { w: 1 } });
}

/** The state of an event's delivery, for a run that could not claim the event. */
export type DeliveryState =
  | { state: 'settled'; outbox: Outbox | null }
  | { state: 'not_its_turn' | 'free' }
  | { state: 'held'; remainingMs: number }
  | { state: 'held ahead'; claim: Claim };

/** Reads the state of an event's delivery, by MongoDB's clock. A ride that does not exist counts as settled. */
export async function deliveryState(rideId: string, seq: number, endedBy?: Date): Promise<DeliveryState> {
  const ride = await rides.findOne<Outbox & Pick<Ride, 'claim'> & { now: Date }>(
    { _id: rideId },
    { projection: { keyId: 1, seq: 1, settledSeq: 1, claim: 1, now: '$$NOW' } },
  );
  if (!ride || ride.settledSeq >= seq) return { state: 'settled', outbox: ride };
  if (ride.settledSeq < seq - 1 || ride.seq < seq) return { state: 'not_its_turn' };
  if (ride.claim && isAhead(ride.claim, ride.now)) return { state: 'held ahead', claim: ride.claim };
  const remainingMs = (ride.claim?.until.getTime() ?? 0) - earlier(ride.now, endedBy);
  return remainingMs > 0 ? { state: 'held', remainingMs } : { state: 'free' };
}
