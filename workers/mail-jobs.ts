import type { Context } from '../shared/base/context.ts';
import { SecretsKeyMissing } from '../shared/base/encryption.ts';
import type { MailJob } from '../shared/base/queues.ts';
import { type MailText, openMail } from '../shared/mail/mail.ts';
import { type MailRow, type MailState, mails } from '../shared/mail/mail-row.ts';
import { claimable, claimFields, heldBy, unclaimed } from './claim-row.ts';
import { type Handler, type JobResult, type Run, type RunAgain, withLogLine } from './handler.ts';
import { type MailTry, submit } from './mail-transport.ts';
import { retryWrite } from './retry-write.ts';

/** While the mail server is unavailable, a mail is retried until this long after its first try. */
const retryForMs = 10 * 60_000;
const firstPauseMs = 5_000;
const longestPauseMs = 60_000;
/**
 * The duration of a claim on a mail, which is longer than one try. If the worker dies, another one retries the mail
 * after this time.
 */
const claimMs = 60_000;
/** The row of a finished mail is kept for this long. */
const keepForMs = 30 * 24 * 3_600_000;

/**
 * Sends one mail: claims it, submits it to the mail server and records the outcome. A mail recorded as sent is never
 * sent again. If a crash prevents the recording, the mail is sent again, with the same Message-ID.
 */
export const sendStoredMail: Handler<MailJob> = async (ctx, { mailId }, run) => {
  const startedAt = performance.now();
  const mail = await claimMail(ctx, mailId, run);
  if (!mail) return unclaimed(await mails.findOne({ _id: mailId }, claimFields), ctx.now());
  const tried = await tryOnce(ctx, mail);
  const late = ctx.now() >= (mail.triedUntil?.getTime() ?? 0);
  const reason = tried.sent ? undefined : tried.reason;
  const durationMs = Math.round(performance.now() - startedAt);
  const fields = { mailId, pool: run.pool, reason, durationMs };
  if (!tried.sent && !tried.isRefused && !late) {
    const again = await tryLater(ctx, mail, run, tried.reason);
    return withLogLine(
      ctx.log,
      again,
      { ...fields, outcome: 'again', againInMs: again.againInMs },
      'mail not sent yet',
      'warn',
    );
  }
  const state = tried.sent ? (tried.kept ? 'kept' : 'sent') : 'failed';
  const finished = await finish(ctx, mail, run, state, reason);
  return withLogLine(ctx.log, finished, { ...fields, outcome: state }, 'mail', tried.sent ? 'info' : 'warn');
};

/** Claims a waiting mail for one run of its job. The first claim fixes the time until which the mail is retried. */
async function claimMail(ctx: Context, mailId: string, { token }: Run): Promise<MailRow | null> {
  const now = ctx.now();
  const claim = { token, until: new Date(now + claimMs) };
  const triedUntil = { $ifNull: ['$triedUntil', new Date(now + retryForMs)] };
  const options = { returnDocument: 'after' } as const;
  return mails.findOneAndUpdate(claimable(mailId, token, now), [{ $set: { claim, triedUntil } }], options);
}

/** Submits the mail. In development without a mail server, keeps it for the developer (dev/stack/mail-box.ts). */
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
  const times = { finishedAt: new Date(now), expiresAt: new Date(now + keepForMs) };
  const set = { state, ...times, ...(reason && { reason }) };
  await retryWrite(ctx.log, { mailId: _id }, run, () =>
    mails.updateOne(heldBy(run.token, _id), { $set: set, $unset: erased }),
  );
  return { result: state, reason };
}

/** Releases the mail's claim until its next try, for which the same job runs again. */
async function tryLater(ctx: Context, mail: MailRow, run: Run, reason: string): Promise<RunAgain> {
  const { _id, triedUntil } = mail;
  const now = ctx.now();
  const leftMs = (triedUntil?.getTime() ?? now) - now;
  // The delay equals the time since the first try, between the shortest and the longest pause. The last try happens
  // when the retry time ends.
  const againInMs = Math.min(leftMs, longestPauseMs, Math.max(firstPauseMs, retryForMs - leftMs));
  const change = { $set: { dueAt: new Date(now + againInMs) }, $unset: { claim: 1 } } as const;
  await retryWrite(ctx.log, { mailId: _id }, run, () => mails.updateOne(heldBy(run.token, _id), change));
  return { againInMs, why: `mail server: ${reason}` };
}
