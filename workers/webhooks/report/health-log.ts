import type { Context } from '../../../shared/base/context.ts';
import { describeError } from '../../../shared/base/errors.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import type { Delivery } from '../../../shared/rides/ride-types.ts';
import { failuresToTell } from '../../../shared/webhooks/delivery-health.ts';
import { type FailureCode, failureReason } from '../../../shared/webhooks/failure-reasons.ts';
import { beside } from './buffered-writer.ts';
import { tellOfFailures, tellOfRecovery } from './health-mails.ts';

/** Outcomes gather for this long, so that a busy key whose receiver is down is written a few times a second. */
const delayMs = 100;

/** What the deliveries of a key came to since it was last written: whether one succeeded, and the failures after that. */
interface Noted {
  ctx: Context;
  hasSucceeded: boolean;
  failures: number;
  since: Date;
  reason: FailureCode;
}

let noted = new Map<string, Noted>();
let writing = new Map<string, Noted>();
const writes = beside(writeNoted, () => noted.size > 0, delayMs);

/**
 * Counts the deliveries of a key that fail in a row, on the key. Returns at once and never fails. Writes nothing for a
 * success of a key that is not failing: `isFailing` is what the key said when the delivery began. Failures that are not the
 * receiver's do not count, nor do events without a URL.
 */
export function noteDelivery(ctx: Context, keyId: string, delivery: Delivery, isFailing: boolean): void {
  const before = noted.get(keyId);
  const reason = failureReason(delivery)?.code;
  if (!reason) {
    if (!isFailing && !before && !writing.has(keyId)) return;
    noted.set(keyId, { ctx, hasSucceeded: true, failures: 0, since: delivery.at, reason: 'other' });
  } else if (reason !== 'no_url' && reason !== 'ours') {
    const { hasSucceeded = false, failures = 0, since = delivery.at } = before ?? {};
    noted.set(keyId, { ctx, hasSucceeded, failures: failures + 1, since: failures ? since : delivery.at, reason });
  } else return;
  writes.soon();
}

/** Writes what was noted, before the process ends. Takes a second at most. */
export const flushHealth = (): Promise<void> => writes.flush();

async function writeNoted(): Promise<void> {
  [writing, noted] = [noted, new Map()];
  await Promise.all([...writing].map(([keyId, of]) => write(keyId, of)));
  writing = new Map();
}

async function write(keyId: string, { ctx, hasSucceeded, ...failures }: Noted): Promise<void> {
  try {
    if (hasSucceeded) await endFailures(ctx, keyId);
    if (failures.failures > 0) await addFailures(ctx, keyId, failures);
  } catch (error) {
    ctx.log.debug({ keyId, error: describeError(error) }, 'health of deliveries not written');
  }
}

async function addFailures(
  ctx: Context,
  keyId: string,
  { failures, since, reason }: Pick<Noted, 'failures' | 'since' | 'reason'>,
): Promise<void> {
  const key = await keys.findOneAndUpdate(
    { _id: keyId },
    { $inc: { 'failing.inRow': failures }, $min: { 'failing.since': since }, $set: { 'failing.reason': reason } },
    { projection: { failing: 1 }, returnDocument: 'after' },
  );
  if (key?.failing && key.failing.inRow >= failuresToTell && !key.failing.isTold) await tellOfFailures(ctx, keyId);
}

/** The run whose update finds the failures ends them, so one mail says that it works again. */
async function endFailures(ctx: Context, keyId: string): Promise<void> {
  const before = await keys.findOneAndUpdate(
    { _id: keyId, failing: { $exists: true } },
    { $unset: { failing: '' } },
    { returnDocument: 'before' },
  );
  if (before?.failing?.isTold) await tellOfRecovery(ctx, before, before.failing);
}
