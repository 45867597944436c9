import { deliveryHeaders, signatureHeader } from '../../shared/webhooks/sign.ts';
import { styled } from '../terminal/style.ts';
import { codeOf, type FeedEvent } from './feed.ts';

/** The receiver's answer to an event, and its duration. */
type ReceiverAnswer = { durationMs: number } & ({ status: number } | { problem: string });

/** The time limit of a real delivery (contract, section 6, rule 3). */
const receiverTimeoutMs = 8_000;

/**
 * Sends an event to a receiver once, with the body, headers and signature of a real delivery. Resolves with null for an
 * event with an erased body.
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
      signal: AbortSignal.any([ending, AbortSignal.timeout(receiverTimeoutMs)]),
    });
    const answer = { status: response.status, durationMs: durationMs() };
    await response.body?.cancel().catch(() => {});
    return answer;
  } catch (error) {
    return { problem: codeOf(error), durationMs: durationMs() };
  }
}

const textWidth = 28;

/** An event as one line of at most 80 characters: time, ride (its last six characters), event and the answer. */
export function eventLine({ at, rideId, seq, event, body }: FeedEvent, answer: ReceiverAnswer | null): string {
  const clock = styled('quiet', new Date(at).toTimeString().slice(0, 8));
  const what = event === 'ride.status' && body ? String(body.status) : event;
  const text = printable(`event ${seq} ${what}`).slice(0, textWidth).padEnd(textWidth);
  return `${clock}  ${styled('accent', printable(rideId).slice(-6).padEnd(6))}  ${text}  ${answerText(answer)}`;
}

/** Replaces control characters, because the service is not trusted and a terminal would execute them. */
const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?');

function answerText(answer: ReceiverAnswer | null): string {
  if (!answer) return styled('quiet', 'not sent: its body is erased');
  if ('problem' in answer) return styled('bad', `not delivered: ${answer.problem}`);
  const { status, durationMs } = answer;
  const isSuccess = status >= 200 && status <= 299;
  return `${styled(isSuccess ? 'good' : 'bad', String(status))}  ${styled('quiet', `${durationMs} ms`)}`;
}
