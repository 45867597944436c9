import { deliveryHeaders } from '../../shared/webhooks/delivery-headers.ts';
import { signatureHeader } from '../../shared/webhooks/sign.ts';
import { codeOf, type FeedEvent } from './feed.ts';

/** What the receiver said of an event, and how long that took. */
export type ReceiverAnswer = { durationMs: number } & ({ status: number } | { problem: string });

/** As long as a receiver has in earnest (contract, section 6, rule 3). */
const receiverMs = 8_000;

/**
 * Sends an event to a receiver once, as the service would: the same bytes, headers and signature. Null for an event whose body
 * is erased.
 */
export async function forward(
  { event, eventId, seq, body }: FeedEvent,
  { url, secret }: { url: URL; secret: string },
  ending: AbortSignal,
): Promise<ReceiverAnswer | null> {
  if (!body) return null;
  const text = JSON.stringify(body);
  const signature = signatureHeader(secret, text, Math.floor(Date.now() / 1_000));
  const startedAt = performance.now();
  const durationMs = () => Math.round(performance.now() - startedAt);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...deliveryHeaders({ event, eventId, seq }, signature) },
      body: text,
      redirect: 'manual',
      signal: AbortSignal.any([ending, AbortSignal.timeout(receiverMs)]),
    });
    const answer = { status: response.status, durationMs: durationMs() };
    await response.body?.cancel().catch(() => {});
    return answer;
  } catch (error) {
    return { problem: codeOf(error), durationMs: durationMs() };
  }
}
