import { keys } from '../../shared/keys/api-key.ts';
import { type AttemptRecord, attempts } from '../../shared/webhooks/attempts.ts';
import { paceMs } from '../../shared/webhooks/redeliver.ts';
import { earlier, isAhead, isFreeOrOwn, noteAhead, outwaited } from './ahead.ts';
import { claimMs, type Held, now } from './claim.ts';

/** An attempt that is asked for by hand, claimed by this run. */
export interface ClaimedAttempt extends Held {
  record: AttemptRecord;
  claim: NonNullable<AttemptRecord['claim']>;
}

/** A redelivery may come this much before its place in the pace: its job is never on time to the millisecond. */
const toleranceMs = 100;
/** No place in the pace is this far ahead, unless MongoDB's clock was set back: then the pace begins again. */
const outdatedMs = 120_000;

/**
 * Claims an attempt that is asked for by hand for one run of its job, by MongoDB's clock. Resolves with null when it is done or
 * another run holds it. Claiming again with the same token renews the claim, and is no further try.
 */
export async function claimAttempt(attemptId: string, token: string, endedBy?: Date): Promise<ClaimedAttempt | null> {
  const askedAt = now();
  const isOwn = { $eq: ['$claim.token', token] };
  const record = await attempts.findOneAndUpdate(
    { _id: attemptId, dueAt: { $exists: true }, $expr: isFreeOrOwn(token, outwaited(attemptId), endedBy) },
    [
      {
        $set: {
          state: 'claimed',
          tries: { $add: ['$tries', { $cond: [isOwn, 0, 1] }] },
          claim: { token, at: '$$NOW', until: { $add: ['$$NOW', claimMs] } },
        },
      },
    ],
    { returnDocument: 'after' },
  );
  return record?.claim ? { record, claim: record.claim, askedAt } : null;
}

/** Ends a claim under which nothing was sent: it was no try. */
export async function releaseAttempt(attemptId: string, token: string): Promise<void> {
  const change = { $set: { state: 'waiting' }, $inc: { tries: -1 }, $unset: { claim: '' } } as const;
  await attempts.updateOne({ _id: attemptId, 'claim.token': token }, change);
}

/** Extends a claim without an attempt to `forMs` from now, so that no run tries before that. It was no try. */
export async function extendAttempt(attemptId: string, token: string, forMs: number): Promise<void> {
  const until = { $add: ['$$NOW', Math.ceil(forMs)] };
  const change = [{ $set: { tries: { $subtract: ['$tries', 1] }, 'claim.until': until } }];
  await attempts.updateOne({ _id: attemptId, 'claim.token': token }, change);
}

/** When to look again at an attempt that another run holds (ms), or null when it is done. */
export async function heldForMs(attemptId: string, endedBy?: Date): Promise<number | null> {
  const found = await attempts.findOne<Pick<AttemptRecord, 'claim'> & { now: Date }>(
    { _id: attemptId, dueAt: { $exists: true } },
    { projection: { claim: 1, now: '$$NOW' } },
  );
  if (!found?.claim) return found && 0;
  if (isAhead(found.claim, found.now)) return noteAhead(attemptId, found.claim);
  return Math.max(0, found.claim.until.getTime() - earlier(found.now, endedBy));
}

/**
 * Whether a redelivery of this key may begin now. Keeps the pace over all processes, also when many are late and due at once.
 */
export async function mayRedeliver(keyId: string): Promise<boolean> {
  const isOutdated = { $gt: ['$nextRedeliveryAt', { $add: ['$$NOW', outdatedMs] }] };
  const isInPace = { $or: [{ $lte: ['$nextRedeliveryAt', { $add: ['$$NOW', toleranceMs] }] }, isOutdated] };
  const last = { $cond: [isOutdated, '$$NOW', { $max: ['$nextRedeliveryAt', '$$NOW'] }] };
  const next = { $add: [last, paceMs] };
  const { matchedCount } = await keys.updateOne({ _id: keyId, $expr: isInPace }, [
    { $set: { nextRedeliveryAt: next } },
  ]);
  return matchedCount === 1;
}
