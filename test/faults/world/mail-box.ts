import { type MailServer, type ReceivedMail, startMailServer } from '../../support/mail-server.ts';

/** The mail server of a world. It can be away for a while, at the same address. */
export interface MailBox {
  url: string;
  /** All mails that it has accepted. */
  readonly mails: ReceivedMail[];
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
