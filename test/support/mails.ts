import type { Context } from '../../shared/base/context.ts';
import { randomBase62 } from '../../shared/base/ids.ts';
import { type MailText, openMail } from '../../shared/mail/mail.ts';
import { type MailRow, mails } from '../../shared/mail/mail-row.ts';

/** An unused e-mail address. */
export const someone = (): string => `${randomBase62(10).toLowerCase()}@partner.example`;

/** The mails that were opened before, by row: decrypting all of them at each look would take most of a run. */
const opened = new Map<string, MailText>();

/** The mails to an address that are not erased yet, newest first. */
export async function mailsTo(ctx: Context, email: string): Promise<(MailText & { row: MailRow })[]> {
  const rows = await mails.find({ sealed: { $exists: true } }, { sort: { createdAt: -1, _id: -1 } }).toArray();
  for (const row of rows) if (!opened.has(row._id)) opened.set(row._id, openMail(ctx.config, row));
  return rows.map((row) => ({ ...(opened.get(row._id) as MailText), row })).filter(({ to }) => to === email);
}

/** The mails with a sign-in code to an address, newest first. */
export const codeMailsTo = async (ctx: Context, email: string) =>
  (await mailsTo(ctx, email)).filter(({ text }) => /^\d{6} is your code/.test(text));

/** The newest sign-in code that was sent to an address. */
export async function codeSentTo(ctx: Context, email: string): Promise<string> {
  const [newest] = await codeMailsTo(ctx, email);
  if (!newest) throw new Error('no code was sent');
  return newest.text.slice(0, 6);
}

/** The path of the newest sign-in link that was sent to an address. */
export async function linkSentTo(ctx: Context, email: string): Promise<string> {
  const [newest] = await codeMailsTo(ctx, email);
  const path = newest?.text.match(/\/dashboard\/sign-in\/link\/[\w-]{22}/)?.[0];
  if (!path) throw new Error('no link was sent');
  return path;
}

/** A code that is not the given one. */
export const wrongCode = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0');
