import { sha256 } from '../base/ids.ts';
import { type ChargeResult, charge, chargeWindow, type Limit, readLimit, refund, refundWindow } from './limit.ts';

/** The limits of sign-in (contract, section 8). */

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const mailsToAddress: Limit = { name: 'code-mails-to', most: 5, perMs: hourMs };
const mailsForClient: Limit = { name: 'code-mails-for', most: 20, perMs: hourMs };
/** No pause before the first five tries, because people mistype. Later pauses about double, up to an hour. */
const pausesMs = [0, 0, 0, 0, 0, 1, 2, 4, 8, 15, 30, ...Array<number>(9).fill(60)].map((minutes) => minutes * minuteMs);
export const wrongCodes: Limit = { name: 'wrong-codes-of-day', most: 20, perMs: dayMs, pausesMs };
/** After this many wrong codes within a day, the owner of the address gets a mail. */
export const reportedWrongCodes = 10;

/** A browser that signs in. Its device or the typed address selects its rate-limit bucket. */
export interface Browser {
  /** The token in the browser's cookie: 256 random bits. */
  token: string;
  /** The device id, if the browser has signed in with this address before (derived-keys.ts). */
  device: string | null;
}

/** The rate-limit bucket: each known browser has its own, and all other browsers share one for each address. */
const bucketOf = ({ device }: Browser, email: string): string => (device ? `device:${device}` : sha256(email));

export type MailRefusal = { tooMany: 'to the address' | 'for the client' | 'in all'; freesMs: number };

interface MailRequest {
  email: string;
  browser: Browser;
  /** The client's network. */
  client: string;
  /** A form that is sent again has the same id. */
  id: string;
}

/**
 * Charges a mail with a sign-in code: at most 5 an hour for an address, 20 for a client's network, and `perHour` in
 * total for browsers that have not signed in before. Resolves with null, or with the limit that is reached. A refused
 * mail stores nothing.
 */
export async function chargeMail(request: MailRequest, perHour: number, nowMs: number): Promise<MailRefusal | null> {
  const { email, browser, client, id } = request;
  const of = bucketOf(browser, email);
  const [ofClient, ofAddress] = await Promise.all([
    readLimit(mailsForClient, client, nowMs, id),
    readLimit(mailsToAddress, of, nowMs, id),
  ]);
  // If the mail is already charged to its address, it is already charged to the total, too.
  const isCountedInAll = browser.device !== null || ofAddress.isCounted;
  const inAll = isCountedInAll ? null : { name: 'code-mails', most: perHour, perMs: hourMs };
  if (ofClient.waitMs > 0) return { tooMany: 'for the client', freesMs: ofClient.waitMs };
  if (ofAddress.waitMs > 0) return { tooMany: 'to the address', freesMs: ofAddress.waitMs };
  const fullForMs = inAll ? await chargeWindow(inAll, nowMs) : 0;
  if (fullForMs > 0) return { tooMany: 'in all', freesMs: fullForMs };
  const refundInAll = async () => inAll && refundWindow(inAll, nowMs);
  const forClient = await charge(mailsForClient, client, nowMs, id);
  if (forClient.isFull) {
    await refundInAll();
    return { tooMany: 'for the client', freesMs: forClient.freesMs };
  }
  const toAddress = await charge(mailsToAddress, of, nowMs, id);
  if (toAddress.isFull) {
    await Promise.all([forClient.refund(), refundInAll()]);
    return { tooMany: 'to the address', freesMs: toAddress.freesMs };
  }
  // A concurrent copy of the form has charged the address, and so the total before that.
  if (!toAddress.isNew) await refundInAll();
  return null;
}

/** Counts an entered code before it is checked: at most 20 tries a day, with growing pauses. */
export const countTry = (browser: Browser, email: string, id: string, nowMs: number): Promise<ChargeResult> =>
  charge(wrongCodes, bucketOf(browser, email), nowMs, id);

/** Removes the try of a correct code, because only wrong codes count. */
export const refundTry = (browser: Browser, email: string, id: string): Promise<void> =>
  refund(wrongCodes, bucketOf(browser, email), id);
