import type { Config } from '../base/config.ts';
import type { Context } from '../base/context.ts';
import { decrypt, encrypt } from '../base/encryption.ts';
import { newMailId } from '../base/ids.ts';
import { exists, insertOnce } from '../base/mongo/collection.ts';
import { addJob } from '../base/queues.ts';
import { isolated } from '../base/shown-text.ts';
import { type MailRow, mails } from './mail-row.ts';

/** The recipient and the text of a mail. */
export interface MailText {
  to: string;
  subject: string;
  text: string;
}

/**
 * Stores a mail, which the worker pool `mail` sends. Resolves when the mail is in MongoDB. `to` is one validated
 * address. While the mail server is unavailable, sending is retried for 10 minutes; then the mail fails. With an `id`
 * (derivedMailId), repeated calls send only one mail.
 */
export async function sendMail(ctx: Context, mail: MailText, id = newMailId(ctx.now())): Promise<void> {
  await enqueueMail(ctx, await storeMail(ctx.config, mail, ctx.now(), id));
}

/** Like `sendMail`, for a process without Redis: only stores the mail, and the sweeper adds its job. */
export async function storeMail(
  { secrets }: Pick<Config, 'secrets'>,
  mail: MailText,
  nowMs: number,
  _id = newMailId(nowMs),
): Promise<MailRow> {
  const createdAt = new Date(nowMs);
  const row: MailRow = { _id, state: 'waiting', createdAt, dueAt: createdAt };
  await insertOnce(mails, { ...row, sealed: encrypt(JSON.stringify(mail), secrets.keys, _id) });
  return row;
}

/** Resolves with true if a mail with this id is stored. */
export const isMailStored = (id: string): Promise<boolean> => exists(mails, { _id: id });

/** Decrypts a stored mail. Throws SecretsKeyMissing or SecretDamaged. */
export function openMail(config: Pick<Config, 'secrets'>, { _id, sealed = '' }: MailRow): MailText {
  return JSON.parse(decrypt(sealed, config.secrets.keys, _id));
}

/** Adds the job of a waiting mail. Never fails: if Redis does not accept the job, the sweeper adds it later. */
export async function enqueueMail(
  ctx: Context,
  { _id, dueAt }: Pick<MailRow, '_id' | 'dueAt'>,
  { evenIfActive = false } = {},
): Promise<boolean> {
  return addJob(ctx, 'mail', { id: _id, name: `mail ${_id}`, data: { mailId: _id }, dueAt, evenIfActive });
}

/** True if mails can be read: through a mail server, or on the mail page of a development stack. */
export const canSendMail = ({ environment, secrets }: Pick<Config, 'environment' | 'secrets'>): boolean =>
  secrets.smtpUrl !== '' || environment === 'development';

/** A partner's text within a line of a mail. It cannot add lines or headers, or change the order of the line. */
export const oneLine = (text: string): string => isolated(text).replace(/\s+/gu, ' ').trim();

/** A time as `2026-01-31 09:05 UTC`. */
export const formatUtc = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
