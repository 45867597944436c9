import { createTransport } from 'nodemailer';
import type { Config } from '../shared/base/config.ts';
import type { MailText } from '../shared/mail/mail.ts';

/** Long enough for a server that delays its replies on purpose (tarpitting), and shorter than a claim (mail-jobs.ts). */
const limitMs = 30_000;
const timeouts = { dnsTimeout: 5_000, connectionTimeout: 10_000, greetingTimeout: 20_000, socketTimeout: 20_000 };

/** The result of one try. A refusal is final; any other failure may be temporary. */
export type MailTry = { sent: true } | { sent: false; isRefused: boolean; reason: string };

/** Submits a mail to the mail server of SMTP_URL. Never throws. */
export async function submit(config: MailSettings, mailId: string, mail: MailText): Promise<MailTry> {
  try {
    await transportTo(config).sendMail({
      from: config.mailFrom,
      to: { name: '', address: mail.to },
      subject: mail.subject,
      text: mail.text,
      // Every try has the same Message-ID, so that a mailbox recognizes a duplicate.
      messageId: `<${mailId}@${domainOf(config.mailFrom)}>`,
      headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
      signal: AbortSignal.timeout(limitMs),
    });
    return { sent: true };
  } catch (error) {
    return { sent: false, ...describeFailure(error) };
  }
}

type MailSettings = Pick<Config, 'environment' | 'mailFrom' | 'secrets'>;

/** A connection for one mail. Uses TLS if the server offers it; in production, a password is sent only over TLS. */
function transportTo({ environment, secrets }: MailSettings) {
  const hasPassword = new URL(secrets.smtpUrl).password !== '';
  return createTransport({
    url: secrets.smtpUrl,
    ...(environment === 'production' && hasPassword && { requireTLS: true }),
    ...timeouts,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

const domainOf = (from: string): string => /@([^\s<>@]+)>?$/.exec(from)?.[1] ?? 'localhost';

/** Returns only codes: the text of a mail server's reply may contain the recipient's address. */
function describeFailure(error: unknown): { isRefused: boolean; reason: string } {
  const { code = 'error', responseCode } = error as { code?: string; responseCode?: number };
  const isAboutMail = code === 'EENVELOPE' || code === 'EMESSAGE';
  return {
    isRefused: isAboutMail && (responseCode === undefined || responseCode >= 500),
    reason: responseCode === undefined ? code : `${code} ${responseCode}`,
  };
}
