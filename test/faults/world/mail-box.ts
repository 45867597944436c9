import { type MailServer, type ReceivedMail, startMailServer } from '../../support/mail-server.ts';

/** The mail server of a world. */
export interface MailBox {
  url: string;
  /** All accepted mails. */
  readonly mails: ReceivedMail[];
  /** Stops the mail server, runs `work`, and then restarts the server on the same port. */
  away(work: () => Promise<unknown>): Promise<void>;
  close(): Promise<void>;
}

export async function startMailBox(): Promise<MailBox> {
  let server: MailServer = await startMailServer();
  const earlier: ReceivedMail[] = [];
  const { url } = server;
  return {
    url,
    get mails() {
      return [...earlier, ...server.mails];
    },
    async away(work) {
      await server.close();
      await work();
      earlier.push(...server.mails);
      server = await startMailServer({}, Number(new URL(url).port));
    },
    close: () => server.close(),
  };
}
