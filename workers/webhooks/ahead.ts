/** A claim as it was read: a renewal changes `until`. */
export interface SeenClaim {
  token: string;
  at: Date;
  until: Date;
}

/** Another process may have seen the claim earlier, so the job comes back sooner than after the whole length. */
const lookAgainMs = 3_000;
const forgetAfterMs = 3_600_000;

/** Claims that lie ahead of MongoDB's clock, by ride or attempt, and when this process saw them first (ms, monotonic). */
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
  const before = seen.get(id);
  if (!before || !isSame(before.claim, claim)) {
    seen.delete(id); // The map stays in the order of `since`.
    seen.set(id, { claim, since });
  }
  return Math.min(lengthMs(claim), lookAgainMs);
}

/**
 * The claim that this process has seen ahead of MongoDB's clock, unchanged, for the claim's whole length by the monotonic
 * clock: its run has ended, and another may take it over. Undefined without one.
 */
export function outwaited(id: string): SeenClaim | undefined {
  const entry = seen.get(id);
  return entry && performance.now() - entry.since >= lengthMs(entry.claim) ? entry.claim : undefined;
}

/**
 * For the pipeline of an update: whether the claim of the document may be replaced by a claim with this token. A claim has
 * ended when MongoDB's clock has reached its end, and `endedBy` too: the same clock before it was set ahead.
 */
export function isFreeOrOwn(token: string, waited: SeenClaim | undefined, endedBy?: Date): object {
  const isFree = { $lte: ['$claim.until', { $min: ['$$NOW', endedBy ?? '$$NOW'] }] };
  const isOwn = { $eq: ['$claim.token', token] };
  if (!waited) return { $or: [isFree, isOwn] };
  const isUnchanged = [{ $eq: ['$claim.token', waited.token] }, { $eq: ['$claim.until', waited.until] }];
  return { $or: [isFree, isOwn, { $and: isUnchanged }] };
}

/** The earlier of MongoDB's clock and `endedBy` (Unix ms). */
export const earlier = (now: Date, endedBy = now): number => Math.min(now.getTime(), endedBy.getTime());

const lengthMs = ({ at, until }: SeenClaim): number => until.getTime() - at.getTime();
const isSame = (a: SeenClaim, b: SeenClaim): boolean => a.token === b.token && a.until.getTime() === b.until.getTime();
