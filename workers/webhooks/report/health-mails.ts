import { accounts } from '../../../shared/accounts/account.ts';
import { mailedAddresses } from '../../../shared/accounts/members.ts';
import type { Context } from '../../../shared/base/context.ts';
import { describeError } from '../../../shared/base/errors.ts';
import { derivedMailId } from '../../../shared/base/ids.ts';
import { type ApiKey, type FailureStreak, keys } from '../../../shared/keys/api-key.ts';
import { formatUtc, oneLine, sendMail } from '../../../shared/mail/mail.ts';
import { type FailureCode, failureReasons, failuresToReport } from '../../../shared/webhooks/failure-reasons.ts';

/** The most outage mails for a key in 24 hours. The limit is for receivers that fail and recover repeatedly. */
const maxMailsPerDay = 4;
const dayMs = 24 * 3_600_000;

/**
 * Mails the owners and developers of the account that the deliveries of a key fail: once for each outage, but at most 4
 * times in 24 hours. An outage beyond this limit is reported at its first failure after the 24 hours.
 *
 * Only the process whose update marks the outage as reported sends the mails. If it crashes, no process sends them
 * again. If a mail could not be stored, the mark is removed: the next failure sends the mails that are missing.
 */
export async function mailFailures(ctx: Context, keyId: string): Promise<void> {
  const ofLastDay = {
    $filter: {
      input: { $ifNull: ['$outageMailsAt', []] },
      cond: { $gt: ['$$this', { $subtract: ['$$NOW', dayMs] }] },
    },
  };
  const key = await keys.findOneAndUpdate(
    {
      _id: keyId,
      'failing.inRow': { $gte: failuresToReport },
      'failing.isTold': { $ne: true },
      $expr: { $lt: [{ $size: ofLastDay }, maxMailsPerDay] },
    },
    [{ $set: { 'failing.isTold': true, outageMailsAt: { $concatArrays: [ofLastDay, ['$$NOW']] } } }],
    { returnDocument: 'after' },
  );
  if (!key?.failing) return;
  const mailIds = await mailTeam(
    ctx,
    key,
    `failing since ${key.failing.since.getTime()}`,
    failureMail(ctx, key, key.failing),
  );
  if (mailIds) await keys.updateOne({ _id: keyId, 'failing.isTold': true }, { $set: { 'failing.mailIds': mailIds } });
  else await keys.updateOne({ _id: keyId }, { $unset: { 'failing.isTold': '' }, $pop: { outageMailsAt: 1 } });
}

/** Mails the owners and developers of the account that an event was delivered again. */
export async function mailRecovery(ctx: Context, key: ApiKey, failing: FailureStreak): Promise<void> {
  await mailTeam(ctx, key, `recovered since ${failing.since.getTime()}`, recoveryMail(ctx, key, failing));
}

type Mail = { subject: string; text: string };

/**
 * Sends one mail to each owner and developer. Resolves with the ids of the mails, or with null if not all are stored. The
 * ids are derived from `news`, so a repeat sends only those that are missing.
 */
async function mailTeam(ctx: Context, { _id, accountId }: ApiKey, news: string, mail: Mail): Promise<string[] | null> {
  try {
    const account = await accounts.findOne({ _id: accountId });
    const sent: string[] = [];
    for (const to of account ? mailedAddresses(account) : []) {
      const mailId = derivedMailId(_id, news, to);
      await sendMail(ctx, { to, ...mail }, mailId);
      sent.push(mailId);
    }
    return sent;
  } catch (error) {
    ctx.log.warn({ keyId: _id, error: describeError(error) }, 'mail about delivery health not sent');
    return null;
  }
}

function failureMail({ config }: Context, key: ApiKey, { inRow, since, reason }: FailureStreak): Mail {
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

function recoveryMail({ config }: Context, key: ApiKey, { inRow, since }: FailureStreak): Mail {
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
