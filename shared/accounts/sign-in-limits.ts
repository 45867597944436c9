import { sha256 } from '../base/ids.ts';
import { giveBack, type Limit, type Taken, take, takeInWindow, waitFor, waitForWindow } from './limit.ts';

/** The limits of signing in (contract, section 8). */

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const mailsToAddress: Limit = { name: 'code-mails-to', most: 5, perMs: hourMs };
const mailsForClient: Limit = { name: 'code-mails-for', most: 20, perMs: hourMs };
/** No pause before the first five, since people mistype; then it doubles, up to an hour. */
const pausesMs = [0, 0, 0, 0, 0, 1, 2, 4, 8, 15, 30, ...Array<number>(9).fill(60)].map((minutes) => minutes * minuteMs);
export const wrongCodes: Limit = { name: 'wrong-codes-of-day', most: 20, perMs: dayMs, pausesMs };
/** With this many wrong codes within a day the owner of the address gets a mail. */
export const reportedWrongCodes = 10;

/** The person's browser, as limits see it. */
export interface Browser {
  /** The token in the browser's cookie: 256 random bits. */
  token: string;
  /** Of a browser that has signed in with this address before (device.ts). */
  device: string | null;
}

/** A known browser's mails and tries are counted apart, those of all other browsers together. */
const countedAs = ({ device }: Browser, email: string): string => (device ? `device:${device}` : sha256(email));

export type MailRefusal = { tooMany: 'to the address' | 'for the client' | 'in all'; freesMs: number };

interface AskedMail {
  email: string;
  browser: Browser;
  /** The client's network. */
  client: string;
  /** The same for a form that is sent again. */
  id: string;
}

/**
 * Charges a mail with a code: at most 5 an hour for an address, 20 for a client's network, and `perHour` for all browsers
 * that have not signed in before. Resolves with null, or with the limit that is reached: a refused mail stores nothing.
 */
export async function chargeMail(asked: AskedMail, perHour: number, nowMs: number): Promise<MailRefusal | null> {
  const { email, browser, client, id } = asked;
  const of = countedAs(browser, email);
  const [ofClient, ofAddress] = await Promise.all([
    waitFor(mailsForClient, client, nowMs, id),
    waitFor(mailsToAddress, of, nowMs, id),
  ]);
  // A mail that is counted for its address is counted in the total, too.
  const isCountedInAll = browser.device !== null || ofAddress.isCounted;
  const inAll = isCountedInAll ? null : { name: 'code-mails', most: perHour, perMs: hourMs };
  const inAllMs = inAll ? await waitForWindow(inAll, nowMs) : 0;
  if (ofClient.waitMs > 0) return { tooMany: 'for the client', freesMs: ofClient.waitMs };
  if (ofAddress.waitMs > 0) return { tooMany: 'to the address', freesMs: ofAddress.waitMs };
  if (inAllMs > 0) return { tooMany: 'in all', freesMs: inAllMs };
  const forClient = await take(mailsForClient, client, nowMs, id);
  if (forClient.isFull) return { tooMany: 'for the client', freesMs: forClient.freesMs };
  const toAddress = await take(mailsToAddress, of, nowMs, id);
  if (toAddress.isFull) {
    await forClient.giveBack();
    return { tooMany: 'to the address', freesMs: toAddress.freesMs };
  }
  const fullForMs = inAll ? await takeInWindow(inAll, nowMs) : 0;
  if (fullForMs === 0) return null;
  await Promise.all([forClient.giveBack(), toAddress.giveBack()]);
  return { tooMany: 'in all', freesMs: fullForMs };
}

/** Counts a try to enter a code before it is looked at: 20 a day, with growing pauses. */
export const countTry = (browser: Browser, email: string, id: string, nowMs: number): Promise<Taken> =>
  take(wrongCodes, countedAs(browser, email), nowMs, id);

/** The code was right: its try does not count. */
export const uncountTry = (browser: Browser, email: string, id: string): Promise<void> =>
  giveBack(wrongCodes, countedAs(browser, email), id);
