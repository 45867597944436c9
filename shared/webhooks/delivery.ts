import { gatheredUpdate } from '../gather.ts';
import type { Update } from '../mongo.ts';
import type { Outbox } from '../rides/outbox.ts';
import { type Claim, type Delivery, type Ride, type RideEvent, rides } from '../rides/ride.ts';

/** How long a claim holds: the attempt's 8 s and room to record its outcome. */
const claimMs = 12_000;

/** What an attempt needs of the ride: the event it claimed, and where it goes. */
export interface Claimed {
  ride: Pick<Ride, '_id' | 'keyId' | 'webhookUrl'>;
  event: RideEvent;
  claim: Claim;
  /** When this process asked for the claim, by both of its clocks (ms): the claim is at most as old. */
  askedAt: { monotonic: number; wall: number };
}

type ClaimedRide = Claimed['ride'] & { claim?: Claim; event?: RideEvent };

/** It waits for no journal: a claim that a crash forgets is only taken again. */
const claim = gatheredUpdate<Ride, ClaimedRide>(
  rides,
  // Events are numbered from 1 without a gap, so the one after number settledSeq stands at that place.
  { keyId: 1, webhookUrl: 1, claim: 1, event: { $arrayElemAt: ['$events', '$settledSeq'] } },
  { writeConcern: { w: 1 } },
);

/**
 * Claims event number seq of a ride for one run of a job, by MongoDB's clock. Resolves with the event, or null where it
 * is not the oldest unsettled one or another run holds it. The same token claims again, which renews.
 */
export async function claimEvent(rideId: string, seq: number, token: string): Promise<Claimed | null> {
  const askedAt = { monotonic: performance.now(), wall: Date.now() };
  const free = {
    $or: [{ $lte: ['$claim.until', '$$NOW'] }, { $eq: ['$claim.token', token] }],
  };
  const ride = await claim({
    filter: { _id: rideId, settledSeq: seq - 1, seq: { $gte: seq }, $expr: free },
    change: [{ $set: { claim: { seq, token, at: '$$NOW', until: { $add: ['$$NOW', claimMs] } } } }],
  });
  // As long as the claim is this run's, the event after the last settled one is this one.
  if (!ride?.event || ride.claim?.token !== token) return null;
  return { ride, event: ride.event, claim: ride.claim, askedAt };
}

const settle = gatheredUpdate<Ride, Outbox>(rides, { keyId: 1, seq: 1, settledSeq: 1 });

/**
 * Records the outcome of an attempt on its event and lifts the claim, in one write. Resolves with the ride's outbox as
 * it then stands, or null where another run has taken over. Only the run that holds the claim can settle, or one whose
 * claim a restart of MongoDB forgot.
 */
export async function settleEvent(
  rideId: string,
  seq: number,
  token: string,
  delivery: Delivery,
): Promise<Outbox | null> {
  return settle({
    filter: {
      _id: rideId,
      settledSeq: seq - 1,
      'events.seq': seq,
      $or: [{ 'claim.token': token }, { claim: null }],
    },
    change: {
      $set: { 'events.$.delivery': delivery, settledSeq: seq },
      $inc: { unsettled: -1 },
      $currentDate: { unsettledSince: true },
      $unset: { claim: '' },
    },
  } as Update<Ride>);
}

/** Gives back a claim under which nothing was sent. */
export async function releaseClaim(rideId: string, token: string): Promise<void> {
  await rides.updateOne({ _id: rideId, 'claim.token': token }, { $unset: { claim: '' } }, { writeConcern: { w: 1 } });
}

/** Where an event's delivery stands, for a run that could not claim it. */
export type Standing =
  | { state: 'settled'; outbox: Outbox | null }
  | { state: 'not_its_turn' | 'free' }
  | { state: 'held'; remainingMs: number };

/** Reads where an event's delivery stands, by MongoDB's clock; a ride or event that is gone has nothing left to do. */
export async function deliveryStanding(rideId: string, seq: number): Promise<Standing> {
  const ride = await rides.findOne<Outbox & Pick<Ride, 'claim'> & { now: Date }>(
    { _id: rideId },
    { projection: { keyId: 1, seq: 1, settledSeq: 1, claim: 1, now: '$$NOW' } },
  );
  if (!ride || ride.settledSeq >= seq) return { state: 'settled', outbox: ride };
  if (ride.settledSeq < seq - 1 || ride.seq < seq) return { state: 'not_its_turn' };
  const remainingMs = (ride.claim?.until.getTime() ?? 0) - ride.now.getTime();
  return remainingMs > 0 ? { state: 'held', remainingMs } : { state: 'free' };
}

/** The log keeps where an attempt went, without the query, which may hold a secret of the receiver's. */
export function loggedUrl(url: string): string {
  if (!URL.canParse(url)) return '';
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
