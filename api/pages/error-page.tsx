import type { AppError } from '../../shared/base/errors.ts';
import type { RequestContext } from '../part.ts';
import { Mark, renderDocument } from './document.tsx';

/** The text of an error's page: the problem, and the next step. */
interface Message {
  title: string;
  text: string;
  advice?: string;
}

const messages: Record<number, Message> = {
  400: { title: 'This request cannot be read', text: 'Something in the address or the form is not as it should be.' },
  403: {
    title: 'This was not sent from our page',
    text: 'Changes are accepted only from the pages of this service.',
    advice: 'Open the page again and repeat what you did.',
  },
  404: {
    title: 'Nothing is here',
    text: 'The address may be mistyped, or the page is gone.',
    advice: 'Check the link that you were given.',
  },
  405: { title: 'This does not work here', text: 'The address exists, but not for this kind of request.' },
  408: {
    title: 'This took too long to arrive',
    text: 'The connection was too slow.',
    advice: 'Load the page again.',
  },
  413: { title: 'Too much at once', text: 'What was sent is larger than this page takes.', advice: 'Send less text.' },
  429: {
    title: 'Too many requests',
    text: 'This was asked for too often in a short time.',
    advice: 'Try again in a minute.',
  },
  500: {
    title: 'Something went wrong',
    text: 'The fault is ours, and it has been noted.',
    advice: 'Load the page again; nothing was lost.',
  },
  503: {
    title: 'The service is away for a moment',
    text: 'It cannot be reached just now.',
    advice: 'Load the page again in a few seconds; nothing was lost.',
  },
};

/** The page of an error. With `requestId` the error can be found in the log. */
export function errorPage(
  status: number,
  { requestId, message = messageOf(status) }: { requestId?: string; message?: Message } = {},
): string {
  return renderDocument({
    title: message.title,
    kind: 'message',
    children: (
      <main>
        <Mark />
        <h1>{message.title}</h1>
        <p>{message.text}</p>
        {message.advice && <p>{message.advice}</p>}
        {requestId && (
          <p class="quiet small">
            Error {status}, request <code>{requestId}</code>
          </p>
        )}
      </main>
    ),
  });
}

/** A copy of the message of an error's page. */
function messageOf(status: number): Message {
  return { ...(messages[status] ?? messages[status >= 500 ? 500 : 400]) } as Message;
}

/** The page of an error. Sets the content type, since a page is text to Koa as well. */
export function pageError(error: AppError, ctx: RequestContext): string {
  ctx.response.type = 'html';
  const message = messageOf(error.status);
  // The text of a 429 names the limit that was reached.
  if (error.status === 429) message.text = `${error.message}.`;
  return errorPage(error.status, { requestId: ctx.state.requestId, message });
}
