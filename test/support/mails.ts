import type { Context } from '../../shared/context.ts';
import { type MailText, openMail } from '../../shared/mail/mail.ts';
import { type MailRow, mails } from '../../shared/mail/mail-row.ts';

/** The mails to an address that are not erased yet, the newest first. */
export async function mailsTo(ctx: Context, email: string): Promise<(MailText & { row: MailRow })[]> {
  const rows = await mails.find({ sealed: { $exists: true } }, { sort: { createdAt: -1, _id: -1 } }).toArray();
  return rows.map((row) => ({ ...openMail(ctx.config, row), row })).filter(({ to }) => to === email);
}

/** The newest code that was sent to an address. */
export async function codeSentTo(ctx: Context, email: string): Promise<string> {
  const [newest] = await mailsTo(ctx, email);
  const code = newest?.text.match(/\b\d{6}\b/)?.[0];
  if (!code) throw new Error('no code was sent');
  return code;
}

/** A code that is not the given one. */
export const wrongCode = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0');
