import type { JobResult } from './handler.ts';

/** Finds a waiting mail or message that this run may claim: no run holds it, or this one does. */
export const claimable = (_id: string, token: string, nowMs: number) => ({
  _id,
  state: 'waiting' as const,
  $or: [{ claim: { $exists: false } }, { 'claim.until': { $lte: new Date(nowMs) } }, { 'claim.token': token }],
});

/** Finds a waiting mail or message that this run holds. */
export const heldBy = (token: string, _id: string) => ({ _id, state: 'waiting' as const, 'claim.token': token });

export const claimFields = { projection: { state: 1, claim: 1 } } as const;

/** The result of a run that could not claim its row, which has `claimFields`, or is gone. */
export function unclaimed(row: { state: string; claim?: { until: Date } } | null, nowMs: number): JobResult {
  if (row?.state !== 'waiting') return { result: row?.state ?? 'gone' };
  const leftMs = (row.claim?.until.getTime() ?? 0) - nowMs;
  return { againInMs: Math.max(100, leftMs), why: 'held by another run' };
}
