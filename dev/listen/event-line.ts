import { styled } from '../terminal/style.ts';
import type { FeedEvent } from './feed.ts';
import type { ReceiverAnswer } from './forward.ts';

const textWidth = 28;

/** An event as one line of at most 80 characters: when, which ride (its last six characters), what, and the answer to it. */
export function eventLine({ at, rideId, seq, event, body }: FeedEvent, answer: ReceiverAnswer | null): string {
  const clock = styled('quiet', new Date(at).toTimeString().slice(0, 8));
  const what = event === 'ride.status' && body ? String(body.status) : event;
  const text = printable(`event ${seq} ${what}`).slice(0, textWidth).padEnd(textWidth);
  return `${clock}  ${styled('accent', printable(rideId).slice(-6).padEnd(6))}  ${text}  ${answerText(answer)}`;
}

/** The service may be any, and a terminal obeys control characters. */
const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?');

function answerText(answer: ReceiverAnswer | null): string {
  if (!answer) return styled('quiet', 'not sent: its body is erased');
  if ('problem' in answer) return styled('bad', `not delivered: ${answer.problem}`);
  const { status, durationMs } = answer;
  const isSuccess = status >= 200 && status <= 299;
  return `${styled(isSuccess ? 'good' : 'bad', String(status))}  ${styled('quiet', `${durationMs} ms`)}`;
}
