import { accounts } from '../../shared/accounts/account.ts';
import { mailedAddresses } from '../../shared/accounts/members.ts';
import type { Context } from '../../shared/base/context.ts';
import { derivedMailId } from '../../shared/base/ids.ts';
import { type ApiKey, type FailureStreak, keys } from '../../shared/keys/api-key.ts';
import { formatUtc, oneLine, sendMail } from '../../shared/mail/mail.ts';
import { type FailureCode, failureReasons, failuresToReport } from '../../shared/webhooks/failure-reasons.ts';
import { logFailedPart, type PacedWork } from './turns.ts';

/** The most outages of a key that are reported in 24 hours. The limit is for receivers that fail and recover repeatedly. */
const maxReportsPerDay = 4;
const dayMs = 24 * 3_600_000;

/** Keys whose deliveries fail, or failed until a moment ago, and whose accounts have no mail about it yet. */
export const owesMail = {
  $or: [
    { 'failing.inRow': { $gte: failuresToReport }, 'failing.isTold': { $exists: false } },
    { recovered: { $exists: true } },
  ],
};
const fields = { accountId: 1, name: 1, failing: 1, recovered: 1, outageMailsAt: 1 } as const;
type OwingKey = Pick<ApiKey, '_id' | keyof typeof fields>;

/**
 * Mails the owners and developers of an account that the deliveries of a key fail, and that an event was delivered
 * again (contract, section 6): once for each outage, but at most 4 outages in 24 hours. An outage beyond this limit is
 * reported at its first failure after the 24 hours. Needs the SECRETS_KEY, which encrypts mails.
 */
export const outageMails: PacedWork = {
  leaseKey: '{rides:outage-mails}:lease',
  intervalMs: 2_000,
  asksPerInterval: 1,
  rests: { perWork: 1, longestMs: 50 },
  failure: 'mails about failing webhooks not stored',
  async work(ctx, pace) {
    const owing = await keys.find<OwingKey>(owesMail, { projection: fields }).toArray();
    for (const key of owing) {
      await pace();
      try {
        await tell(ctx, key);
      } catch (error) {
        logFailedPart(ctx.log, 'mails about a failing key could not be stored', { keyId: key._id }, error);
      }
    }
  },
};

/**
 * Stores the mails that a key owes, and only then notes it on the key. If the process crashes in between, the next turn
 * stores no mail twice, because the ids of the mails are derived from the outage. The mails about an outage that has
 * ended come before those about the next one.
 */
async function tell(ctx: Context, key: OwingKey): Promise<void> {
  const { _id, failing, recovered } = key;
  if (recovered) {
    const report = recovered.isTold ? null : await reportOutage(ctx, key, recovered);
    if (recovered.isTold || report) {
      await mailTeam(ctx, key, `recovered since ${recovered.since.getTime()}`, recoveryMail(ctx, key, recovered));
    }
    const isNoted = { $eq: ['$recovered.since', recovered.since] };
    const change = { recovered: { $cond: [isNoted, '$$REMOVE', '$recovered'] } };
    await keys.updateOne({ _id }, [{ $set: { ...change, ...(report && { outageMailsAt: report.outageMailsAt }) } }]);
  } else if (failing) {
    const report = await reportOutage(ctx, key, failing);
    if (!report) return;
    const { mailIds, outageMailsAt } = report;
    // If the outage has ended in the meantime, it is in `recovered`. The next one begins later.
    const told = (streak: 'failing' | 'recovered') => {
      const since = `$${streak}.since`;
      const isThis = { $and: [{ $gt: [since, null] }, { $lte: [since, failing.since] }] };
      return { $cond: [isThis, { $mergeObjects: [`$${streak}`, { isTold: true, mailIds }] }, `$${streak}`] };
    };
    const change = { failing: told('failing'), recovered: told('recovered'), outageMailsAt };
    await keys.updateOne({ _id }, [{ $set: change }]);
  }
}

/** Mails that deliveries fail. Resolves with what to note on the key, or with null if the limit forbids the mails. */
async function reportOutage(
  ctx: Context,
  key: OwingKey,
  outage: FailureStreak,
): Promise<{ mailIds: string[]; outageMailsAt: Date[] } | null> {
  const dayBefore = outage.at.getTime() - dayMs;
  const ofLastDay = (key.outageMailsAt ?? []).filter((at) => at.getTime() > dayBefore);
  if (ofLastDay.length >= maxReportsPerDay) return null;
  const news = `failing since ${outage.since.getTime()}`;
  const mailIds = await mailTeam(ctx, key, news, failureMail(ctx, key, outage));
  return { mailIds, outageMailsAt: [...ofLastDay, new Date(ctx.now())] };
}

type Mail = { subject: string; text: string };

/**
 * Sends one mail to each owner and developer. Resolves with the ids of the mails. They are derived from `news`, so a
 * repeat sends only those that are missing.
 */
async function mailTeam(ctx: Context, { _id, accountId }: OwingKey, news: string, mail: Mail): Promise<string[]> {
  const account = await accounts.findOne({ _id: accountId });
  const sent: string[] = [];
  for (const to of account ? mailedAddresses(account) : []) {
    const mailId = derivedMailId(_id, news, to);
    await sendMail(ctx, { to, ...mail }, mailId);
    sent.push(mailId);
  }
  return sent;
}

function failureMail({ config }: Context, key: OwingKey, { inRow, since, reason }: FailureStreak): Mail {
  const [name, remedy] = failureReasons[reason as FailureCode];
  return {
    subject: `Webhooks of your key "${oneLine(key.name)}" fail`,
    text: [
      `The last ${inRow} events of your key "${oneLine(key.name)}" did not reach your webhook. The first one failed at ${formatUtc(since)}.`,
      `Reason for the last failure: ${name}.\nWhat to do: ${remedy}`,
      'Each event is sent once; there is no automatic retry. When your receiver works again, you can resend the failed events here:',
      linkTo(config, key._id),
      'We will send you another mail when an event is delivered again.',
    ].join('\n\n'),
  };
}

function recoveryMail({ config }: Context, key: OwingKey, { inRow, since }: FailureStreak): Mail {
  return {
    subject: `Webhooks of your key "${oneLine(key.name)}" work again`,
    text: [
      `An event of your key "${oneLine(key.name)}" has reached your webhook. The ${inRow} events before it, since ${formatUtc(since)}, failed.`,
      'They are not retried automatically. You can resend them here:',
      linkTo(config, key._id),
    ].join('\n\n'),
  };
}

const linkTo = ({ publicBaseUrl }: Context['config'], keyId: string): string =>
  `${publicBaseUrl}/dashboard/deliveries?key=${keyId}`;
