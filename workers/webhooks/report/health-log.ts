import type { Context } from '../../../shared/base/context.ts';
import { describeError } from '../../../shared/base/errors.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import type { Delivery } from '../../../shared/rides/ride-types.ts';
import { type FailureCode, failureReason, failuresToReport } from '../../../shared/webhooks/failure-reasons.ts';
import { createBufferedWriter } from './buffered-writer.ts';
import { mailFailures, mailRecovery } from './health-mails.ts';

/**
 * Outcomes are collected for this long, so that a busy key with a failing receiver causes only a few writes a second.
 */
const delayMs = 100;

/** The delivery results of a key since the last write: whether one succeeded, and the failures after it. */
interface KeyResults {
  ctx: Context;
  hasSucceeded: boolean;
  failures: number;
  since: Date;
  at: Date;
  reason: FailureCode;
}

let waiting = new Map<string, KeyResults>();
let writing = new Map<string, KeyResults>();
const writes = createBufferedWriter(writeWaiting, () => waiting.size > 0, delayMs);

/**
 * Counts a key's consecutive failed deliveries, on the key's document. Returns at once and never fails. A success is
 * written only if the key was failing when the delivery started (`isFailing`), or if failures of the key are still
 * waiting to be written. Local faults and events without a URL do not count.
 */
export function noteDelivery(ctx: Context, keyId: string, delivery: Delivery, isFailing: boolean): void {
  const before = waiting.get(keyId);
  const reason = failureReason(delivery)?.code;
  if (!reason) {
    if (!isFailing && !before && !writing.has(keyId)) return;
    waiting.set(keyId, { ctx, hasSucceeded: true, failures: 0, since: delivery.at, at: delivery.at, reason: 'other' });
  } else if (reason !== 'no_url' && reason !== 'ours') {
    const { hasSucceeded = false, failures = 0, since = delivery.at } = before ?? {};
    const begun = failures ? since : delivery.at;
    waiting.set(keyId, { ctx, hasSucceeded, failures: failures + 1, since: begun, at: delivery.at, reason });
  } else return;
  writes.soon();
}

/** Writes all waiting results before the process ends. Resolves within a second. */
export const flushHealth = (): Promise<void> => writes.flush();

async function writeWaiting(): Promise<void> {
  [writing, waiting] = [waiting, new Map()];
  await Promise.all([...writing].map(([keyId, results]) => write(keyId, results)));
  writing = new Map();
}

async function write(keyId: string, { ctx, hasSucceeded, ...failures }: KeyResults): Promise<void> {
  try {
    if (hasSucceeded) await endFailures(ctx, keyId);
    if (failures.failures > 0) await addFailures(ctx, keyId, failures);
  } catch (error) {
    ctx.log.debug({ keyId, error: describeError(error) }, 'delivery health not recorded');
  }
}

async function addFailures(
  ctx: Context,
  keyId: string,
  { failures, since, at, reason }: Omit<KeyResults, 'ctx' | 'hasSucceeded'>,
): Promise<void> {
  const key = await keys.findOneAndUpdate(
    { _id: keyId },
    {
      $inc: { 'failing.inRow': failures },
      $min: { 'failing.since': since },
      $max: { 'failing.at': at },
      $set: { 'failing.reason': reason },
    },
    { projection: { failing: 1 }, returnDocument: 'after' },
  );
  if (key?.failing && key.failing.inRow >= failuresToReport && !key.failing.isTold) await mailFailures(ctx, keyId);
}

/**
 * Ends the failure streak. Only the process whose update removes it sends a mail, so the account gets one mail per
 * recovery.
 */
async function endFailures(ctx: Context, keyId: string): Promise<void> {
  const before = await keys.findOneAndUpdate(
    { _id: keyId, failing: { $exists: true } },
    { $unset: { failing: '' } },
    { returnDocument: 'before' },
  );
  if (before?.failing?.isTold) await mailRecovery(ctx, before, before.failing);
}
