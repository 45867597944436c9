import { keys } from '../../shared/keys/api-key.ts';
import { resendIntervalMs } from '../../shared/webhooks/attempt-jobs.ts';
import { type AttemptRecord, attempts } from '../../shared/webhooks/attempts.ts';
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

/** A resend (a redelivery or a test event) that this run has claimed. */
export interface ClaimedResend extends HeldClaim {
  record: AttemptRecord;
  claim: NonNullable<AttemptRecord['claim']>;
}

/**
 * Claims a resend for one run of its job, by MongoDB's clock. Resolves with null if it is done or another run holds it.
 * Claiming again with the same token renews the claim and does not count as another try.
 */
export async function claimResend(attemptId: string, token: string, endedBy?: Date): Promise<ClaimedResend | null> {
  const askedAt = readClocks();
  const isOwn = { $eq: ['$claim.token', token] };
  const record = await attempts.findOneAndUpdate(
    { _id: attemptId, dueAt: { $exists: true }, $expr: mayClaim(attemptId, token, endedBy) },
    [
      {
        $set: {
          state: 'claimed',
          tries: { $add: ['$tries', { $cond: [isOwn, 0, 1] }] },
          claim: newClaim(token),
        },
      },
    ],
    { returnDocument: 'after' },
  );
  const answeredAt = readClocks();
  return record?.claim ? { record, claim: record.claim, askedAt, answeredAt, ...operationsOn(attemptId, token) } : null;
}

/** `release` and `extend` take back the try that the claim has counted, because no attempt was made under the claim. */
function operationsOn(attemptId: string, token: string): Pick<HeldClaim, 'renew' | 'release' | 'extend'> {
  const own = { _id: attemptId, 'claim.token': token };
  const notTried = { tries: { $subtract: ['$tries', 1] } };
  return {
    renew: (endedBy) => claimResend(attemptId, token, endedBy),
    release: () => attempts.updateOne(own, { $set: { state: 'waiting' }, $inc: { tries: -1 }, $unset: { claim: '' } }),
    extend: (forMs) => attempts.updateOne(own, [{ $set: { ...notTried, 'claim.until': fromNow(forMs) } }]),
  };
}

/**
 * Records the outcome of a resend and ends its claim. If nothing matches, either an earlier write of this run succeeded
 * and its reply was lost, or another run has claimed the resend and records its own outcome.
 */
export async function settleResend(attemptId: string, token: string, outcome: Partial<AttemptRecord>): Promise<object> {
  const change = { $set: { ...outcome, state: 'done' as const }, $unset: { claim: '', dueAt: '' } } as const;
  return attempts.updateOne({ _id: attemptId, 'claim.token': token }, change);
}

/** For a resend that another run holds: the time after which to check it again (ms); null if the resend is done. */
export async function heldForMs(attemptId: string, endedBy?: Date): Promise<number | null> {
  const found = await attempts.findOne<Pick<AttemptRecord, 'claim'> & { now: Date }>(
    { _id: attemptId, dueAt: { $exists: true } },
    { projection: { claim: 1, now: '$$NOW' } },
  );
  if (!found?.claim) return found && 0;
  if (isAhead(found.claim, found.now)) return noteClaimAhead(attemptId, found.claim);
  return Math.max(0, found.claim.until.getTime() - earlierMs(found.now, endedBy));
}

/**
 * The throttle (10 redeliveries a second per key) allows a redelivery to start earlier by this much, because jobs never
 * run exactly on time.
 */
const toleranceMs = 100;
/** If `nextRedeliveryAt` is further ahead than this, MongoDB's clock was set back, and the throttle starts again. */
const maxAheadMs = 120_000;

/**
 * Resolves with true if a redelivery of this key may start now. All processes share this throttle, so the limit also
 * holds when many late jobs are due at once.
 */
export async function mayRedeliver(keyId: string): Promise<boolean> {
  const isOutdated = { $gt: ['$nextRedeliveryAt', fromNow(maxAheadMs)] };
  const isInPace = { $or: [{ $lte: ['$nextRedeliveryAt', fromNow(toleranceMs)] }, isOutdated] };
  const last = { $cond: [isOutdated, '$$NOW', { $max: ['$nextRedeliveryAt', '$$NOW'] }] };
  const next = { $add: [last, resendIntervalMs] };
  const { matchedCount } = await keys.updateOne({ _id: keyId, $expr: isInPace }, [
    { $set: { nextRedeliveryAt: next } },
  ]);
  return matchedCount === 1;
}
