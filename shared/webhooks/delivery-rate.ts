import { firstAttemptId } from '../base/ids.ts';
import { findAll } from '../base/mongo/collection.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { sentEvents } from '../base/terms.ts';
import { type AccountOwner, type AttemptRecord, attempts, ofAccount } from './attempts.ts';

/** The newest attempts that are read, so that the cost does not depend on the number of attempts. */
const mostRead = 1_000;

export interface DeliveryRate {
  /** The first attempts of events, without events that have no URL. */
  attempts: number;
  delivered: number;
  /** There are more attempts than `attempts`, which are the newest ones. */
  isSample: boolean;
  /** The duration of half, and of 95 %, of the delivered attempts is at most this long. */
  medianMs?: number;
  mostMs?: number;
}

const sentOutcomes = ['delivered', 'failed', 'timeout', 'blocked'] as const;
type Sent = Pick<AttemptRecord, 'kind' | 'outcome' | 'durationMs'>;

/** How many of an account's events were delivered since a time, and how long that took. */
export async function deliveryRate({ accountId }: AccountOwner, since: Date): Promise<DeliveryRate> {
  const filter = {
    accountId,
    // With every outcome and event listed, MongoDB merges one ordered scan for each instead of sorting.
    outcome: { $in: [...sentOutcomes] },
    event: { $in: [...sentEvents] },
    _id: { $gte: firstAttemptId(since.getTime()) },
  };
  const found = await findAll<AttemptRecord, Sent>(attempts, filter, {
    projection: { _id: 0, kind: 1, outcome: 1, durationMs: 1 },
    hint: ofAccount,
    sort: { _id: -1 },
    limit: mostRead,
    ...timeLimit(),
  });
  const first = found.filter(({ kind }) => kind === 'event');
  const delivered = first.filter(({ outcome }) => outcome === 'delivered');
  const durations = delivered.flatMap(({ durationMs = [] }) => durationMs).sort((a, b) => a - b);
  const within = (share: number) => durations[Math.ceil(durations.length * share) - 1];
  return {
    attempts: first.length,
    delivered: delivered.length,
    isSample: found.length === mostRead,
    medianMs: within(0.5),
    mostMs: within(0.95),
  };
}
