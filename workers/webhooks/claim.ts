import type { Context } from '../../shared/base/context.ts';

/** How long a claim lasts: 8 s for the attempt, and time to record its outcome. */
const claimMs = 12_000;

/** The time by which claims end: a step ahead of MongoDB's clock does not end a claim that was made before it. */
export const claimClock = (ctx: Pick<Context, 'nowBeforeSteps'>): Date => new Date(ctx.nowBeforeSteps(claimMs + 1_000));

/**
 * A claim this old is renewed before a request is written under it. Its age is counted from when the query was sent: the
 * process may be paused before it reads the reply. Of the claim's 12 s, the attempt's 8 s and a second to record its outcome
 * are left then, even when MongoDB takes over a second to answer.
 */
const maxClaimAgeMs = 3_000;

/** Connecting may take this long after MongoDB's answer. */
const maxConnectMs = 1_000;

/** A claim that this run holds on an event or on a resend. Its operations do nothing once another run has taken it over. */
export interface HeldClaim {
  claim: { at: Date };
  /** When this process asked for the claim. The claim is at most this old. */
  askedAt: ClockReading;
  /** Claims the same again. Resolves with null when another run holds it. */
  renew(endedBy: Date): Promise<HeldClaim | null>;
  /** Ends a claim under which nothing was sent. */
  release(): Promise<unknown>;
  /** Extends the claim to `forMs` from now without an attempt, so that no run tries before that. */
  extend(forMs: number): Promise<unknown>;
}

/** For the pipeline of an update: a claim that begins now, by MongoDB's clock. */
export const newClaim = (token: string) => ({ token, at: '$$NOW', until: fromNow(claimMs) });

/** For the pipeline of an update: the time `ms` from now, by MongoDB's clock. */
export const fromNow = (ms: number) => ({ $add: ['$$NOW', Math.ceil(ms)] });

/** A claim that can be renewed while an attempt connects. */
export function renewableClaim(ctx: Pick<Context, 'nowBeforeSteps'>, held: HeldClaim) {
  let { claim, askedAt } = held;
  let answeredAt = readClocks();
  return {
    /** The claim while a request may be written under it, else null. */
    ifFresh: (): HeldClaim['claim'] | null =>
      ageMs(askedAt) <= maxClaimAgeMs && ageMs(answeredAt) <= maxConnectMs ? claim : null,
    /** Claims again. False when another run holds it. */
    renew: async (): Promise<boolean> => {
      const renewed = await held.renew(claimClock(ctx));
      if (renewed) ({ claim, askedAt } = renewed);
      answeredAt = readClocks();
      return renewed !== null;
    },
  };
}

/** Both clocks of this host (ms): the monotonic clock stops while the machine sleeps, the wall clock can be set. */
export interface ClockReading {
  monotonic: number;
  wall: number;
}

export const readClocks = (): ClockReading => ({ monotonic: performance.now(), wall: Date.now() });

/** The time since a reading, by the clock that shows more. */
export const ageMs = ({ monotonic, wall }: ClockReading): number =>
  Math.max(performance.now() - monotonic, Date.now() - wall);

/** A claim of another run as it was read: a renewal changes `until`. */
interface SeenClaim {
  token: string;
  at: Date;
  until: Date;
}

/** Another process may have seen the claim earlier, so the job comes back sooner than after the whole length. */
const lookAgainMs = 3_000;
const forgetAfterMs = 3_600_000;

/** Claims that lie ahead of MongoDB's clock, by ride or resend, and when this process saw them first (ms, monotonic). */
const seen = new Map<string, { claim: SeenClaim; since: number }>();

/** Whether MongoDB's clock was set back after the claim: then its end says nothing. */
export const isAhead = ({ at }: Pick<SeenClaim, 'at'>, now: Date): boolean => at > now;

/** Notes a claim that lies ahead. Returns when to look again (ms). */
export function noteAhead(id: string, claim: SeenClaim): number {
  const since = performance.now();
  for (const [oldest, entry] of seen) {
    if (since - entry.since < forgetAfterMs) break;
    seen.delete(oldest);
  }
  const before = seen.get(id)?.claim;
  if (before?.token !== claim.token || before.until.getTime() !== claim.until.getTime()) {
    seen.delete(id); // The map stays in the order of `since`.
    seen.set(id, { claim, since });
  }
  return Math.min(lengthMs(claim), lookAgainMs);
}

/** The earlier of MongoDB's clock and `endedBy` (Unix ms). */
export const earlier = (now: Date, endedBy = now): number => Math.min(now.getTime(), endedBy.getTime());

/**
 * For the pipeline of an update: whether this run may claim the document. It may when the claim is its own, or has ended: by
 * MongoDB's clock, and by `endedBy` too, the same clock before it was set ahead (`claimClock`). A claim ahead of MongoDB's
 * clock is taken over once this process has seen it unchanged for its whole length by the monotonic clock.
 */
export function mayClaim(id: string, token: string, endedBy?: Date): object {
  const isFree = { $lte: ['$claim.until', { $min: ['$$NOW', endedBy ?? '$$NOW'] }] };
  const isOwn = { $eq: ['$claim.token', token] };
  const entry = seen.get(id);
  if (!entry || performance.now() - entry.since < lengthMs(entry.claim)) return { $or: [isFree, isOwn] };
  const isUnchanged = [{ $eq: ['$claim.token', entry.claim.token] }, { $eq: ['$claim.until', entry.claim.until] }];
  return { $or: [isFree, isOwn, { $and: isUnchanged }] };
}

const lengthMs = ({ at, until }: SeenClaim): number => until.getTime() - at.getTime();
