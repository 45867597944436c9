import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SentEvent } from '../base/terms.ts';

/** A receiver refuses a signature whose time is this far from its clock, or further (contract, section 6, rule 6). */
const maxAgeSeconds = 300;

const headerPattern = /^t=(\d{1,15}),v1=([0-9a-f]{64})$/;

/** The headers of a delivery (contract, section 6). `mark` is the additional header of a test event or a redelivery. */
export function deliveryHeaders(
  { event, eventId, seq, mark }: { event: SentEvent; eventId: string; seq?: number; mark?: Record<string, string> },
  signature: string,
): Record<string, string> {
  return {
    'X-Service-Event': event,
    'X-Service-Signature': signature,
    'X-Service-Event-Id': eventId,
    ...(seq !== undefined && { 'X-Service-Sequence': String(seq) }),
    ...mark,
  };
}

/**
 * The value of `X-Service-Signature` for exactly these body bytes: `t=<unix_seconds>,v1=<hex_hmac>`. The HMAC key is
 * the complete `whsec_...` string, including its prefix (contract, section 6, rule 5).
 */
export function signatureHeader(secret: string, body: string, unixSeconds: number): string {
  return `t=${unixSeconds},v1=${hmac(secret, String(unixSeconds), body).toString('hex')}`;
}

/**
 * Checks a signature header as a receiver does: true if it signs these raw bytes and its time is less than 300 seconds
 * before or after `nowSeconds` (contract, section 6, rule 6). Compares in constant time. Never throws.
 */
export function verifySignature(secret: string, header: string, rawBody: string | Buffer, nowSeconds: number): boolean {
  // Stryker disable next-line ArrayDeclaration,StringLiteral: the pattern finds both parts or none
  const [, t = '', v1] = headerPattern.exec(header) ?? [];
  if (v1 === undefined) return false;
  const genuine = timingSafeEqual(Buffer.from(v1, 'hex'), hmac(secret, t, rawBody));
  return genuine && Math.abs(nowSeconds - Number(t)) < maxAgeSeconds;
}

// `t` is the text as sent, because the signature covers its bytes.
function hmac(secret: string, t: string, rawBody: string | Buffer): Buffer {
  return createHmac('sha256', secret).update(`${t}.`).update(rawBody).digest();
}
