import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { deliveryHeaders, signatureHeader } from '../../shared/webhooks/sign.ts';
import { styled } from '../terminal/style.ts';
import { codeOf, type FeedEvent, printable } from './feed.ts';

/**
 * The receiver's answer to an event, and its duration. `isSent` is false if no connection was made, so that the event
 * may be sent later.
 */
type ReceiverAnswer = { durationMs: number } & ({ status: number } | { problem: string; isSent: boolean });

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
  // `fetch` refuses some ports, and URLs with a password.
  const { request: open } = url.protocol === 'https:' ? https : http;
  const request = open(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...deliveryHeaders({ event, eventId, seq }, signature) },
    agent: false,
    signal: AbortSignal.any([ending, AbortSignal.timeout(receiverTimeoutMs)]),
  });
  let isSent = false;
  request.once('socket', (socket) =>
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      isSent = true;
    }),
  );
  try {
    const answered = once(request, 'response');
    request.on('error', () => {}).end(text);
    const [response] = await answered;
    request.destroy();
    return { status: response.statusCode, durationMs: durationMs() };
  } catch (error) {
    return { problem: codeOf(error), isSent, durationMs: durationMs() };
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

function answerText(answer: ReceiverAnswer | null): string {
  if (!answer) return styled('quiet', 'not sent: its body is erased');
  if ('problem' in answer) return styled('bad', `not delivered: ${answer.problem}`);
  const { status, durationMs } = answer;
  const isSuccess = status >= 200 && status <= 299;
  return `${styled(isSuccess ? 'good' : 'bad', String(status))}  ${styled('quiet', `${durationMs} ms`)}`;
}
