import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A mail that a mail server has accepted. */
export interface ReceivedMail {
  from: string;
  to: string[];
  raw: string;
}

export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

/**
 * Starts a real SMTP server on loopback, which adds each accepted mail to `mails`. `options` are those of smtp-server,
 * for example to refuse a recipient.
 */
export async function startMailServer(options: SMTPServerOptions = {}, port = 0, mails: ReceivedMail[] = []) {
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData(stream, { envelope }, callback) {
      // Reading fails if the sender is killed during a mail. Such a mail is not accepted.
      void buffer(stream).then((bytes) => {
        const from = envelope.mailFrom ? envelope.mailFrom.address : '';
        mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), raw: bytes.toString('utf8') });
        callback();
      }, callback);
    },
    ...options,
  });
  server.on('error', () => {});
  const listening = server.listen(port, '127.0.0.1');
  await once(listening, 'listening');
  return {
    url: `smtp://127.0.0.1:${(listening.address() as AddressInfo).port}`,
    mails,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

/** An error of a mail server, with its code. */
export const refusal = (responseCode: number): Error =>
  Object.assign(new Error('no such mailbox: guest@partner.example'), { responseCode });
