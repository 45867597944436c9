import { deliveryAccounts } from '../../../shared/base/metrics.ts';
import type { Delivery, Ride } from '../../../shared/rides/ride-types.ts';
import { failureReason } from '../../../shared/webhooks/failure-reasons.ts';

/**
 * How long the latest delivery of an account counts. A failure counts longer, so that accounts with few rides are
 * counted together. A success counts shortly, so that another process's old success does not hide that all fail now.
 */
const countedMs = { failed: 5 * 60_000, delivered: 2 * 60_000 } as const;
type Outcome = keyof typeof countedMs;

/** The latest delivery of each account, oldest first. Contains only accounts with a delivery that still counts. */
const latest = new Map<string, { outcome: Outcome; at: number }>();

/**
 * Counts the accounts by their latest delivery, for the metric that distinguishes one failing partner from a failure of
 * all deliveries. Local faults, events without a URL and test rides do not count: anybody can create test keys whose
 * receivers fail.
 */
export function noteOutcome(
  { accountId, mode }: Pick<Ride, 'accountId' | 'mode'>,
  delivery: Delivery,
  now = performance.now(),
): void {
  if (mode !== 'live') return;
  const reason = failureReason(delivery)?.code;
  if (reason === 'no_url' || reason === 'ours') return;
  latest.delete(accountId);
  latest.set(accountId, { outcome: reason ? 'failed' : 'delivered', at: now });
}

/** Sets the metric to the numbers of accounts. Call it before a scrape. */
export function measureOutcomes(now = performance.now()): void {
  const counts = { failed: 0, delivered: 0 };
  for (const [accountId, { outcome, at }] of latest) {
    if (now - at < countedMs[outcome]) counts[outcome] += 1;
    else latest.delete(accountId);
  }
  for (const outcome of ['failed', 'delivered'] as const) deliveryAccounts.set({ outcome }, counts[outcome]);
}
