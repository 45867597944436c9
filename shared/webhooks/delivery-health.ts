import { timeLimit } from '../base/mongo/durability.ts';
import { keys } from '../keys/api-key.ts';
import type { AccountOwner } from './attempts.ts';
import type { FailureCode } from './failure-reasons.ts';

/** From this many failures in a row on, the dashboard shows them, and the account gets a mail. */
export const failuresToReport = 5;

interface FailingDeliveries {
  failuresInRow: number;
  since: Date;
  /** Why the last one failed: a code of failure-reasons.ts. */
  reason?: FailureCode;
}

/**
 * The account's keys whose last events, 5 at least, have all failed to arrive. Counts the attempts of events, not resends or
 * events without a URL. A recovery shows here a moment after the event that arrived.
 */
export async function deliveryHealth(
  keyIds: readonly string[],
  { accountId }: AccountOwner,
): Promise<Map<string, FailingDeliveries>> {
  const filter = { _id: { $in: [...keyIds] }, accountId, 'failing.inRow': { $gte: failuresToReport } };
  const found = await keys.find(filter, { projection: { failing: 1 }, ...timeLimit() }).toArray();
  return new Map(
    found.flatMap(({ _id, failing }) => {
      if (!failing) return [];
      const { inRow, since, reason } = failing;
      return [[_id, { failuresInRow: inRow, since, reason: reason as FailureCode }] as const];
    }),
  );
}
