import { createHmac, timingSafeEqual } from 'node:crypto';
import { SignatureError } from './errors.ts';
import type { ReceivedEvent } from './generated.ts';

const longestAgeSeconds = 300;

/**
 * The event in a request to your receiver. Throws a SignatureError if the request does not come from the service.
 * `rawBody` has the bytes as they came, `signature` is the header `X-Service-Signature`. For a minute after you have
 * rolled the signing secret, pass the new and the old one.
 */
export function constructEvent(
  rawBody: Uint8Array | string,
  signature: string | undefined,
  secret: string | readonly string[],
): ReceivedEvent {
  const [, t, v1] = /^t=(\d{1,15}),v1=([0-9a-f]{64})$/.exec(signature ?? '') ?? [];
  if (!t || !v1) throw new SignatureError('X-Service-Signature is missing or has another form');
  const isGenuine = [secret].flat().some((one) => {
    const expected = createHmac('sha256', one).update(`${t}.`).update(rawBody).digest();
    return timingSafeEqual(Buffer.from(v1, 'hex'), expected);
  });
  if (!isGenuine) throw new SignatureError('the signature does not fit the body and the secret');
  if (Math.abs(Date.now() / 1_000 - Number(t)) >= longestAgeSeconds) {
    throw new SignatureError('the signature is too old, or the clock of this machine is wrong');
  }
  return JSON.parse(Buffer.from(rawBody).toString());
}
