import type { Context } from '../../shared/base/context.ts';

/** The duration of a claim: 8 s for the attempt, and time to record its outcome. */
const claimMs = 12_000;

/**
 * The `endedBy` of claims: MongoDB's time without the recent forward steps of its clock, so that a claim from before a
 * forward step does not expire early.
 */
export const claimClock = (ctx: Pick<Context, 'nowBeforeSteps'>): Date => new Date(ctx.nowBeforeSteps(claimMs + 1_000));

/**
 * A claim older than this is renewed before a request is written under it. So of the claim's 12 s, at least 8 s remain
 * for the attempt and 1 s to record its outcome. The age counts from when the query for the claim was sent, because the
 * process may be paused before it reads the reply.
 */
const maxClaimAgeMs = 3_000;

/** The longest time between MongoDB's reply and the writing of the request. */
const maxConnectMs = 1_000;

/**
 * A claim that this run holds on an event or a resend. Once another run has claimed the same event or resend, `release`
 * and `extend` do nothing.
 */
export interface HeldClaim {
  claim: { at: Date };
  /** When this process sent the query for the claim. The age of the claim counts from then. */
  askedAt: ClockReading;
  /** When this process read MongoDB's answer. */
  answeredAt: ClockReading;
  /** Claims the same event or resend again. Resolves with null if another run holds it. */
  renew(endedBy: Date): Promise<HeldClaim | null>;
  /** Ends the claim. Call it only if nothing was sent under the claim. */
  release(): Promise<unknown>;
  /** Extends the claim to `forMs` from now, without an attempt, so that no run makes an attempt before that. */
  extend(forMs: number): Promise<unknown>;
}

/** For an update pipeline: a claim that starts now, by MongoDB's clock. */
export const newClaim = (token: string) => ({ token, at: '$$NOW', until: fromNow(claimMs) });

/** For an update pipeline: the time `ms` from now, by MongoDB's clock. */
export const fromNow = (ms: number) => ({ $add: ['$$NOW', Math.ceil(ms)] });

/** Tracks a claim, and renews it while an attempt connects. */
export function renewableClaim(ctx: Pick<Context, 'nowBeforeSteps'>, held: HeldClaim) {
  let { claim, askedAt, answeredAt } = held;
  return {
    /** Returns the claim if it is fresh enough to write a request under it, else null. */
    ifFresh: (): HeldClaim['claim'] | null =>
      ageMs(askedAt) <= maxClaimAgeMs && ageMs(answeredAt) <= maxConnectMs ? claim : null,
    /** Renews the claim. Resolves with false if another run holds it. */
    renew: async (): Promise<boolean> => {
      const renewed = await held.renew(claimClock(ctx));
      if (renewed) ({ claim, askedAt, answeredAt } = renewed);
      return renewed !== null;
    },
  };
}

/**
 * Both clocks of this host (ms). One is not enough: the monotonic clock stops while the machine sleeps, and the wall
 * clock can be set.
 */
export interface ClockReading {
  monotonic: number;
  wall: number;
}

export const readClocks = (): ClockReading => ({ monotonic: performance.now(), wall: Date.now() });

/** The time since a reading (ms), by the clock that advanced more. */
export const ageMs = ({ monotonic, wall }: ClockReading): number =>
  Math.max(performance.now() - monotonic, Date.now() - wall);

/**
 * A claim of another run, as this process read it. A renewal changes `until`, so an unchanged `until` proves that the
 * claim was not renewed.
 */
interface SeenClaim {
  token: string;
  at: Date;
  until: Date;
}

/**
 * A job checks such a claim again at the latest after this time, because another process may have seen the claim
 * earlier and may take it over sooner.
 */
const checkAgainMs = 3_000;
const forgetAfterMs = 3_600_000;

/**
 * Claims dated ahead of MongoDB's clock, by ride or resend id, and when this process first saw each (ms, monotonic).
 */
const seenClaims = new Map<string, { claim: SeenClaim; since: number }>();

/** True if MongoDB's clock was set back after the claim was made. The claim's `until` is then meaningless. */
export const isAhead = ({ at }: Pick<SeenClaim, 'at'>, now: Date): boolean => at > now;

/** Remembers a claim dated ahead of the clock. Returns the time after which to check it again (ms). */
export function noteClaimAhead(id: string, claim: SeenClaim): number {
  const since = performance.now();
  for (const [oldest, entry] of seenClaims) {
    if (since - entry.since < forgetAfterMs) break;
    seenClaims.delete(oldest);
  }
  const before = seenClaims.get(id)?.claim;
  if (before?.token !== claim.token || before.until.getTime() !== claim.until.getTime()) {
    seenClaims.delete(id); // Keeps the map in the order of `since`.
    seenClaims.set(id, { claim, since });
  }
  return Math.min(durationMsOf(claim), checkAgainMs);
}

/**
 * A claim counts as expired if it ended before this time (Unix ms): MongoDB's clock or `endedBy`, whichever is earlier.
 */
export const earlierMs = (now: Date, endedBy = now): number => Math.min(now.getTime(), endedBy.getTime());

/**
 * For an update pipeline: true if this run may claim the document. It may if the current claim is its own, or has
 * expired both by MongoDB's clock and by `endedBy`, which leaves out recent forward steps of that clock (`claimClock`).
 * A claim dated ahead of MongoDB's clock counts as expired once this process has seen it unchanged for its full
 * duration, measured by the monotonic clock.
 */
export function mayClaim(id: string, token: string, endedBy?: Date): object {
  const isFree = { $lte: ['$claim.until', { $min: ['$$NOW', endedBy ?? '$$NOW'] }] };
  const isOwn = { $eq: ['$claim.token', token] };
  const entry = seenClaims.get(id);
  if (!entry || performance.now() - entry.since < durationMsOf(entry.claim)) return { $or: [isFree, isOwn] };
  const isUnchanged = [{ $eq: ['$claim.token', entry.claim.token] }, { $eq: ['$claim.until', entry.claim.until] }];
  return { $or: [isFree, isOwn, { $and: isUnchanged }] };
}

const durationMsOf = ({ at, until }: SeenClaim): number => until.getTime() - at.getTime();
