import { batchedUpdate } from '../../shared/batch.ts';
import type { Update } from '../../shared/mongo/commands.ts';
import { committedReads, committedWrites, timeLimit } from '../../shared/mongo/durability.ts';
import type { Outbox } from '../../shared/rides/outbox.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Claim, Delivery, Ride, RideEvent } from '../../shared/rides/ride-types.ts';

/** How long a claim holds: the attempt's 8 s and room to record its outcome. */
const claimMs = 12_000;

/** What an attempt needs of the ride: the event it claimed, and where it goes. */
export interface Claimed {
  ride: Pick<Ride, '_id' | 'keyId' | 'webhookUrl'>;
  event: RideEvent;
  claim: Claim;
  /** When this process asked for the claim, which is at most as old. */
  askedAt: Moment;
}

/** A moment by both clocks of this process (ms): the monotonic one stands still while a machine sleeps, the other can be set. */
export interface Moment {
  monotonic: number;
  wall: number;
}
export const thisMoment = (): Moment => ({ monotonic: performance.now(), wall: Date.now() });

/** How long ago a moment is (ms), by the clock that says more. */
export const ageOf = (moment: Moment): number =>
  Math.max(performance.now() - moment.monotonic, Date.now() - moment.wall);

type ClaimedRide = Claimed['ride'] & { claim?: Claim; event?: RideEvent };

/**
 * Its acknowledgement proves that no failover takes the event back, which stands before it in the oplog: a partner is told
 * of nothing that may never have been. The claim itself may be forgotten in a crash: it is only taken again.
 */
const claim = batchedUpdate<Ride, ClaimedRide>(
  rides,
  // Events are numbered from 1 without a gap, so the one after number settledSeq stands at that place.
  { keyId: 1, webhookUrl: 1, claim: 1, event: { $arrayElemAt: ['$events', '$settledSeq'] } },
  { writeConcern: committedWrites },
);

/**
 * Claims event number seq of a ride for one run of a job, by MongoDB's clock. Resolves with the event, or null where it
 * is not the oldest unsettled one or another run holds it. The same token claims again, which renews.
 */
export async function claimEvent(rideId: string, seq: number, token: string): Promise<Claimed | null> {
  const askedAt = thisMoment();
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

const outboxFields = { keyId: 1, seq: 1, settledSeq: 1 } as const;
const settleTogether = batchedUpdate<Ride, Outbox>(rides, outboxFields);
const settleAlone = ({ filter, change }: Update<Ride>): Promise<Outbox | null> =>
  rides.findOneAndUpdate(filter, change, { ...timeLimit(), projection: outboxFields, returnDocument: 'after' });

/**
 * Records the outcome of an attempt on its event and lifts the claim, in one write. Resolves with the ride's outbox as
 * it then stands, or null where another run has taken over. Only the run that holds the claim can settle, or one whose
 * claim a restart of MongoDB forgot. `alone` keeps it out of a batch, which MongoDB can refuse because of another one in it.
 */
export async function settleEvent(
  rideId: string,
  seq: number,
  token: string,
  delivery: Delivery,
  { alone = false } = {},
): Promise<Outbox | null> {
  const settle = alone ? settleAlone : settleTogether;
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

/** Keeps a claim for so long from now on, without any attempt: nobody else tries the event before that. */
export async function keepClaim(rideId: string, token: string, forMs: number): Promise<void> {
  const until = { $add: ['$$NOW', Math.ceil(forMs)] };
  const change = [{ $set: { 'claim.until': until } }];
  await rides.updateOne({ _id: rideId, 'claim.token': token }, change, { writeConcern: { w: 1 } });
}

/** The ride's outbox and claim as no failover can take them back any more, or null where there is no such ride. */
export async function readCommittedOutbox(rideId: string): Promise<(Outbox & Pick<Ride, 'claim'>) | null> {
  return rides.findOne({ _id: rideId }, { ...committedReads(), projection: { ...outboxFields, claim: 1 } });
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
