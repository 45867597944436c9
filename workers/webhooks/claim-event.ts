import { batchedUpdate } from '../../shared/base/mongo/batch.ts';
import { committedWrites } from '../../shared/base/mongo/durability.ts';
import { rides } from '../../shared/rides/ride.ts';
import { type Outbox, waitsForNextRide } from '../../shared/rides/ride-jobs.ts';
import type { Claim, Ride, RideEvent } from '../../shared/rides/ride-types.ts';
import {
  earlierMs,
  fromNow,
  type HeldClaim,
  isAhead,
  mayClaim,
  newClaim,
  noteClaimAhead,
  readClocks,
} from './claim.ts';

/** An event that this run has claimed, with the fields of its ride that an attempt needs. */
export interface ClaimedEvent extends HeldClaim {
  ride: Pick<Ride, '_id' | 'keyId' | 'accountId' | 'mode' | 'webhookUrl' | 'origin' | 'seq' | 'scenario'>;
  event: RideEvent;
  claim: Claim;
}

type ClaimedRide = ClaimedEvent['ride'] & { claim?: Claim; event?: RideEvent };

/**
 * Writes the claim with the write concern `committedWrites`. The event precedes the claim in the oplog, so once the
 * claim is acknowledged, no failover can roll back the event. A crash may still lose the claim itself; then another run
 * claims the event.
 */
const claim = batchedUpdate<Ride, ClaimedRide>(
  rides,
  // Events are numbered from 1 without a gap, so the first unsettled event has the index settledSeq.
  {
    keyId: 1,
    accountId: 1,
    mode: 1,
    webhookUrl: 1,
    origin: 1,
    seq: 1,
    scenario: 1,
    claim: 1,
    event: { $arrayElemAt: ['$events', '$settledSeq'] },
  },
  { writeConcern: committedWrites },
);

/**
 * Claims event number `seq` of a ride for one run of a job, by MongoDB's clock. Resolves with the event, or with null
 * if it is not the ride's oldest unsettled event, another run holds it, the ride is held, or the event waits for the
 * next ride (`waitsForNextRide`). Another run's claim counts as expired only if it has expired by `endedBy` too
 * (`claimClock`). Claiming again with the same token renews the claim.
 */
export async function claimEvent(
  rideId: string,
  seq: number,
  token: string,
  endedBy?: Date,
): Promise<ClaimedEvent | null> {
  const askedAt = readClocks();
  const isOldestUnsettled = [{ $eq: ['$settledSeq', seq - 1] }, { $gte: ['$seq', seq] }];
  // These conditions are in the update and not in the filter, where they would double the cost: MongoDB plans a query
  // for any filter with more than `_id`.
  const isNotHeld = { $eq: [{ $type: '$heldAt' }, 'missing'] };
  const nextRideExists = { $or: [{ $gt: ['$seq', seq] }, { $not: [{ $in: ['rebid', '$timers.name'] }] }] };
  const isAllowed = { $and: [...isOldestUnsettled, isNotHeld, nextRideExists, mayClaim(rideId, token, endedBy)] };
  const change = [{ $set: { claim: { $cond: [isAllowed, { seq, ...newClaim(token) }, '$claim'] } } }];
  const ride = await claim({ filter: { _id: rideId }, change });
  // The reply contains the first unsettled event. It is event `seq` if this run holds the claim on that event.
  if (!ride?.event || ride.claim?.token !== token || ride.claim.seq !== seq) return null;
  return {
    ride,
    event: ride.event,
    claim: ride.claim,
    askedAt,
    answeredAt: readClocks(),
    ...operationsOn(ride, seq, token),
  };
}

/** If a crash loses such a write, that is harmless, because the claim expires anyway. */
const notDurable = { writeConcern: { w: 1 } } as const;

function operationsOn(
  { _id, webhookUrl }: ClaimedEvent['ride'],
  seq: number,
  token: string,
): Pick<HeldClaim, 'renew' | 'release' | 'extend'> {
  const own = { _id, 'claim.token': token };
  return {
    async renew(endedBy) {
      const renewed = await claimEvent(_id, seq, token, endedBy);
      // The connection leads to the URL that the ride had before.
      return renewed?.ride.webhookUrl === webhookUrl ? renewed : null;
    },
    release: () => rides.updateOne(own, { $unset: { claim: '' } }, notDurable),
    extend: (forMs) => rides.updateOne(own, [{ $set: { 'claim.until': fromNow(forMs) } }], notDurable),
  };
}

/** The reason why a run could not claim an event. */
type DeliveryState =
  | { state: 'settled'; outbox: Outbox | null }
  | { state: 'not_its_turn' | 'free' | 'held_ride' }
  /** The event names the successor, which may not exist yet. `forMs`: how long the event has waited so far. */
  | { state: 'waits for the next ride'; forMs: number }
  /**
   * `held`: another run holds a claim. `held ahead`: the claim is dated ahead of MongoDB's clock. `remainingMs`: the
   * time after which to check the event again.
   */
  | { state: 'held' | 'held ahead'; remainingMs: number };

/** Reads why an event cannot be claimed, by MongoDB's clock. The events of a missing ride count as settled. */
export async function deliveryState(rideId: string, seq: number, endedBy?: Date): Promise<DeliveryState> {
  const ride = await rides.findOne<Outbox & Pick<Ride, 'claim' | 'heldAt' | 'timers' | 'statusAt'> & { now: Date }>(
    { _id: rideId },
    { projection: { keyId: 1, seq: 1, settledSeq: 1, claim: 1, heldAt: 1, timers: 1, statusAt: 1, now: '$$NOW' } },
  );
  if (ride?.heldAt) return { state: 'held_ride' };
  if (!ride || ride.settledSeq >= seq) return { state: 'settled', outbox: ride };
  if (ride.settledSeq < seq - 1 || ride.seq < seq) return { state: 'not_its_turn' };
  if (waitsForNextRide(ride)) {
    return { state: 'waits for the next ride', forMs: ride.now.getTime() - ride.statusAt.getTime() };
  }
  if (ride.claim && isAhead(ride.claim, ride.now)) {
    return { state: 'held ahead', remainingMs: noteClaimAhead(rideId, ride.claim) };
  }
  const remainingMs = (ride.claim?.until.getTime() ?? 0) - earlierMs(ride.now, endedBy);
  return remainingMs > 0 ? { state: 'held', remainingMs } : { state: 'free' };
}
