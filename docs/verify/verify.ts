import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Whether an event is genuine and recent. `signature` is the header
 * X-Service-Signature, `rawBody` the body as it came: verify before you parse it.
 * `now` is in Unix seconds.
 */
export function verify(
  secret: string,
  signature: string | undefined,
  rawBody: Uint8Array | string,
  now = Date.now() / 1000,
): boolean {
  const [, t, v1] = /^t=(\d{1,15}),v1=([0-9a-f]{64})$/.exec(signature ?? '') ?? [];
  if (!t || !v1) return false;
  const expected = createHmac('sha256', secret).update(`${t}.`).update(rawBody).digest();
  const isGenuine = timingSafeEqual(Buffer.from(v1, 'hex'), expected);
  return isGenuine && Math.abs(now - Number(t)) < 300;
}
