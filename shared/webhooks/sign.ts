import { createHmac, timingSafeEqual } from 'node:crypto';

/** A signature whose time differs from the receiver's by this much or more is refused (section 6, rule 6). */
const maxAgeSeconds = 300;

const headerForm = /^t=(\d{1,15}),v1=([0-9a-f]{64})$/;

/**
 * The value of `X-Service-Signature` for a body that is sent exactly as given: `t=<unix_seconds>,v1=<hex_hmac>`.
 * The key is the whole `whsec_...` string, prefix included, as it stands (section 6, rule 5).
 */
export function signatureHeader(secret: string, body: string, unixSeconds: number): string {
  return `t=${unixSeconds},v1=${hmac(secret, String(unixSeconds), body).toString('hex')}`;
}

/**
 * What a receiver does with our header: true when it signs these raw bytes and is less than 300 seconds off `nowSeconds`,
 * either way (section 6, rule 6). Takes constant time for a header of the right form, and never throws on any header.
 */
export function verifySignature(secret: string, header: string, rawBody: string | Buffer, nowSeconds: number): boolean {
  const [, t, v1] = headerForm.exec(header) ?? [];
  if (t === undefined || v1 === undefined) return false;
  const genuine = timingSafeEqual(Buffer.from(v1, 'hex'), hmac(secret, t, rawBody));
  return genuine && Math.abs(nowSeconds - Number(t)) < maxAgeSeconds;
}

// The time is taken as the text that was sent, not as a number: what is signed is bytes.
function hmac(secret: string, t: string, rawBody: string | Buffer): Buffer {
  return createHmac('sha256', secret).update(`${t}.`).update(rawBody).digest();
}
