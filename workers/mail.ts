import type { Context } from '../shared/base/context.ts';
import { SecretsKeyMissing } from '../shared/base/encryption.ts';
import { describeError } from '../shared/base/errors.ts';
import { isOutageOfMongo } from '../shared/base/mongo/outage.ts';
import type { MailJob } from '../shared/base/queues.ts';
import { type MailText, openMail } from '../shared/mail/mail.ts';
import { type MailRow, type MailState, mails } from '../shared/mail/mail-row.ts';
import { pause } from './abort-signal.ts';
import { type Handler, type JobResult, type Run, type RunAgain, withLine } from './handler.ts';
import { type MailTry, submit } from './mail-transport.ts';

/** A mail server that is away is asked again for this long after the first try. */
const triedForMs = 10 * 60_000;
const firstPauseMs = 5_000;
const longestPauseMs = 60_000;
/** Longer than a try takes. If the worker dies, another one tries again after this time. */
const claimMs = 60_000;
const recordAgainMs = 250;
/** How long the row of a mail says what became of it. */
const keptForMs = 30 * 24 * 3_600_000;

/**
 * Sends one mail: claim it, give it to the mail server, record how that went. A mail that was sent is not sent again; only
 * one whose sending a crash kept us from recording is, with the same Message-ID.
 */
export const sendStoredMail: Handler<MailJob> = async (ctx, { mailId }, run) => {
  const startedAt = performance.now();
  const mail = await claimMail(ctx, mailId, run);
  if (!mail) return endWithoutClaim(ctx, mailId);
  const tried = await tryOnce(ctx, mail);
  const late = ctx.now() >= (mail.triedUntil?.getTime() ?? 0);
  const reason = tried.sent ? undefined : tried.reason;
  const durationMs = Math.round(performance.now() - startedAt);
  const fields = { mailId, pool: run.pool, reason, durationMs };
  if (!tried.sent && !tried.isRefused && !late) {
    const again = await tryLater(ctx, mail, run, tried.reason);
    return withLine(
      ctx.log,
      again,
      { ...fields, outcome: 'again', againInMs: again.againInMs },
      'mail not sent yet',
      'warn',
    );
  }
  const state = tried.sent ? (tried.kept ? 'kept' : 'sent') : 'failed';
  const finished = await finish(ctx, mail, run, state, reason);
  return withLine(ctx.log, finished, { ...fields, outcome: state }, 'mail', tried.sent ? 'info' : 'warn');
};

/** Claims a waiting mail for one run of its job. The first claim decides until when the mail is tried. */
async function claimMail(ctx: Context, mailId: string, { token }: Run): Promise<MailRow | null> {
  const now = new Date(ctx.now());
  return mails.findOneAndUpdate(
    {
      _id: mailId,
      state: 'waiting',
      $or: [{ claim: { $exists: false } }, { 'claim.until': { $lte: now } }, { 'claim.token': token }],
    },
    [
      {
        $set: {
          claim: { token, until: new Date(now.getTime() + claimMs) },
          triedUntil: { $ifNull: ['$triedUntil', new Date(now.getTime() + triedForMs)] },
        },
      },
    ],
    { returnDocument: 'after' },
  );
}

async function endWithoutClaim(ctx: Context, mailId: string): Promise<JobResult> {
  const mail = await mails.findOne({ _id: mailId }, { projection: { state: 1, claim: 1 } });
  if (mail?.state !== 'waiting') return { result: mail?.state ?? 'gone' };
  const leftMs = (mail.claim?.until.getTime() ?? 0) - ctx.now();
  return { againInMs: Math.max(100, leftMs), why: 'held by another run' };
}

/** Only in development, and only without a mail server, is a mail kept for the developer to read (dev/stack/mail-box.ts). */
async function tryOnce(
  ctx: Context,
  mail: MailRow,
): Promise<(MailTry & { kept?: false }) | { sent: true; kept: true }> {
  const { config } = ctx;
  let text: MailText;
  try {
    text = openMail(config, mail);
  } catch (error) {
    if (error instanceof SecretsKeyMissing) return { sent: false, isRefused: false, reason: 'secrets_key_missing' };
    return { sent: false, isRefused: true, reason: 'damaged' };
  }
  if (config.secrets.smtpUrl) return submit(config, mail._id, text);
  if (config.environment === 'development') return { sent: true, kept: true };
  return { sent: false, isRefused: true, reason: 'no_smtp_url' };
}

async function finish(
  ctx: Context,
  { _id }: MailRow,
  run: Run,
  state: Exclude<MailState, 'waiting'>,
  reason?: string,
): Promise<JobResult> {
  const erased = { dueAt: 1, claim: 1, ...(state !== 'kept' && { sealed: 1 as const }) } as const;
  const now = ctx.now();
  const times = { finishedAt: new Date(now), expiresAt: new Date(now + keptForMs) };
  const set = { state, ...times, ...(reason && { reason }) };
  await recorded(ctx, run, () =>
    mails.updateOne({ _id, state: 'waiting', 'claim.token': run.token }, { $set: set, $unset: erased }),
  );
  return { result: state, reason };
}

/** Frees the mail for its next try, which the same job makes. */
async function tryLater(ctx: Context, mail: MailRow, run: Run, reason: string): Promise<RunAgain> {
  const { _id, triedUntil } = mail;
  const now = ctx.now();
  const leftMs = (triedUntil?.getTime() ?? now) - now;
  // As long again as it has been tried already, and a last time when the time is over.
  const againInMs = Math.min(leftMs, longestPauseMs, Math.max(firstPauseMs, triedForMs - leftMs));
  const change = { $set: { dueAt: new Date(now + againInMs) }, $unset: { claim: 1 } } as const;
  await recorded(ctx, run, () => mails.updateOne({ _id, state: 'waiting', 'claim.token': run.token }, change));
  return { againInMs, why: `mail server: ${reason}` };
}

/** Writes until MongoDB has answered, or the pool stops: a mail whose sending is not recorded would be sent again. */
async function recorded(ctx: Context, { stopping }: Run, write: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await write();
      return;
    } catch (error) {
      if (!isOutageOfMongo(error) || stopping.aborted) throw error;
      ctx.log.debug({ error: describeError(error) }, 'mail not recorded yet');
      await pause(recordAgainMs, stopping);
    }
  }
}
