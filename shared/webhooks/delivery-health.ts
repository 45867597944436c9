import { timeLimit } from '../base/mongo/durability.ts';
import { keys } from '../keys/api-key.ts';
import type { AccountOwner } from './attempts.ts';
import type { FailureCode } from './failure-reasons.ts';

/** After this many consecutive failures, the dashboard shows them and the account gets a mail. */
export const failuresToReport = 5;

interface FailingDeliveries {
  failuresInRow: number;
  since: Date;
  /** The reason of the last failure: a code of failure-reasons.ts. */
  reason?: FailureCode;
}

/**
 * Those of the account's given keys whose last 5 or more events all failed. Counts attempts of events, but not resends
 * or events without a URL. After a recovery, a key disappears from the result with a short delay.
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
