import { AccountModel, operatorEmail } from '../accounts/account.ts';
import { mongoNow } from '../base/mongo/clock.ts';
import { findAll, findAmong } from '../base/mongo/collection.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { keys } from '../keys/api-key.ts';
import { type MailRow, mails } from '../mail/mail-row.ts';
import type { AccountOwner } from './attempts.ts';
import { type FailureCode, failuresToReport } from './failure-reasons.ts';

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
  const isFailingOf = { accountId, 'failing.inRow': { $gte: failuresToReport } };
  const found = await findAmong(keys, keyIds, { failing: 1 }, isFailingOf);
  return new Map(
    found.flatMap(({ _id, failing }) => {
      if (!failing) return [];
      const { inRow, since, reason } = failing;
      return [[_id, { failuresInRow: inRow, since, reason: reason as FailureCode }] as const];
    }),
  );
}

const dayMs = 24 * 3_600_000;
/** Keys that can still have deliveries, and whose last events all failed. */
const isFailing = { 'failing.inRow': { $gte: failuresToReport }, revokedAt: { $exists: false } } as const;

/** The number of failing keys whose last failure is less than 24 hours ago. */
export async function countFailingKeys(): Promise<number> {
  const since = new Date((await mongoNow()).getTime() - dayMs);
  return keys.countDocuments({ ...isFailing, 'failing.at': { $gt: since } }, timeLimit());
}

/** A key whose deliveries all fail, and whether its account was notified. Contains no address. */
export interface FailingKey {
  keyId: string;
  accountId: string;
  name: string;
  failuresInRow: number;
  since: Date;
  /** When the last delivery failed. */
  at: Date;
  reason: string;
  /** The notification of the account. `operator`: the key belongs to the operator, who gets no mail. */
  mail: 'sent' | 'waiting' | 'failed' | 'none' | 'operator';
  /** When the mail server first accepted a mail about it. */
  mailedAt: Date | null;
}

const maxFailing = 1_000;

/** All failing keys, the longest streak first; at most 1,000. */
export async function listFailingKeys(): Promise<FailingKey[]> {
  const fields = { accountId: 1, name: 1, failing: 1 } as const;
  const page = { projection: fields, sort: { 'failing.inRow': -1, _id: 1 }, limit: maxFailing } as const;
  const found = await findAll(keys, isFailing, { ...page, ...timeLimit() });
  const mailIds = found.flatMap(({ failing }) => failing?.mailIds ?? []);
  const [sent, operator] = await Promise.all([
    findAmong(mails, mailIds, { state: 1, finishedAt: 1 }),
    AccountModel.findOne({ email: operatorEmail }, { _id: 1 }).lean(),
  ]);
  return found.flatMap(({ _id: keyId, accountId, name, failing }) => {
    if (!failing) return [];
    const { inRow: failuresInRow, since, at, reason, isTold = false, mailIds: own = [] } = failing;
    const rows = sent.filter(({ _id }) => own.includes(_id));
    const notice = accountId === operator?._id ? 'operator' : noticeOf(isTold, rows);
    const times = rows.flatMap(({ state, finishedAt }) => (state === 'sent' && finishedAt) || []);
    const mailedAt = times.sort((a, b) => a.getTime() - b.getTime())[0] ?? null;
    return [{ keyId, accountId, name, failuresInRow, since, at, reason, mail: notice, mailedAt }];
  });
}

/** The row of a mail is deleted 30 days after it was sent. */
function noticeOf(isTold: boolean, rows: readonly Pick<MailRow, 'state'>[]): FailingKey['mail'] {
  if (!isTold) return 'none';
  const states = rows.map(({ state }) => state);
  if (states.includes('waiting')) return 'waiting';
  return states.length > 0 && states.every((state) => state === 'failed') ? 'failed' : 'sent';
}
