import type { Context } from '../../../shared/base/context.ts';
import { describeError } from '../../../shared/base/errors.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import type { Delivery } from '../../../shared/rides/ride-types.ts';
import { type FailureCode, failureReason, failuresToReport } from '../../../shared/webhooks/failure-reasons.ts';
import { createBufferedWriter } from './buffered-writer.ts';

/**
 * Outcomes are collected for this long, so that a busy key with a failing receiver causes only a few writes a second.
 */
const delayMs = 100;

/** The delivery results of a key since the last write: whether one succeeded, and the failures after it. */
interface KeyResults {
  log: Context['log'];
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
export function noteDelivery(
  { log }: Pick<Context, 'log'>,
  keyId: string,
  delivery: Delivery,
  isFailing: boolean,
): void {
  const before = waiting.get(keyId);
  const reason = failureReason(delivery)?.code;
  if (!reason) {
    if (!isFailing && !before && !writing.has(keyId)) return;
    waiting.set(keyId, { log, hasSucceeded: true, failures: 0, since: delivery.at, at: delivery.at, reason: 'other' });
  } else if (reason !== 'no_url' && reason !== 'ours') {
    const { hasSucceeded = false, failures = 0, since = delivery.at } = before ?? {};
    const begun = failures ? since : delivery.at;
    waiting.set(keyId, { log, hasSucceeded, failures: failures + 1, since: begun, at: delivery.at, reason });
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

async function write(keyId: string, { log, hasSucceeded, ...failures }: KeyResults): Promise<void> {
  try {
    if (hasSucceeded) await endFailures(keyId);
    if (failures.failures > 0) await addFailures(keyId, failures);
  } catch (error) {
    log.debug({ keyId, error: describeError(error) }, 'delivery health not recorded');
  }
}

const addFailures = (
  keyId: string,
  { failures, since, at, reason }: Omit<KeyResults, 'log' | 'hasSucceeded'>,
): Promise<unknown> =>
  keys.updateOne(
    { _id: keyId },
    {
      $inc: { 'failing.inRow': failures },
      $min: { 'failing.since': since },
      $max: { 'failing.at': at },
      $set: { 'failing.reason': reason },
    },
  );

/** Ends the failure streak. One that the account must hear of is kept (workers/periodic/outage-mails.ts). */
const endFailures = (keyId: string): Promise<unknown> =>
  keys.updateOne({ _id: keyId, failing: { $exists: true } }, [
    { $set: { recovered: { $cond: [{ $gte: ['$failing.inRow', failuresToReport] }, '$failing', '$recovered'] } } },
    { $unset: 'failing' },
  ]);
