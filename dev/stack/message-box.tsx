import compose from 'koa-compose';
import { pageHeaders } from '../../api/http/security-headers.ts';
import type { Part, RequestContext } from '../../api/part.ts';
import type { Context } from '../../shared/base/context.ts';
import { messages } from '../../shared/messages/message-row.ts';
import { type ShownMessage, shownMessage } from '../../shared/messages/stored-messages.ts';
import { Empty, PageHead } from '../../web/kit/blocks.tsx';
import { renderDocument } from '../../web/kit/document.tsx';
import { pageError } from '../../web/kit/error-page.tsx';
import { Time } from '../../web/kit/facts.tsx';
import { messageKindWords, messageReason, messageStateWords, personWords } from '../../web/kit/message-words.ts';
import { ridePath } from '../../web/kit/paths.ts';
import { messageBoxPath, onlyLocal } from './local-pages.ts';
import { withLinks } from './with-links.tsx';

const shownMessages = 50;

/**
 * The page that lists the text messages of a development stack, for this machine only. The stack sends those of live
 * rides only if SMS_URL is set, and those of test rides never.
 */
export function messageBox({ config }: Context): Part {
  return {
    name: 'message box',
    owns: (path) => path === messageBoxPath,
    routes: () => [{ method: 'GET', path: messageBoxPath }],
    headers: new Map([...pageHeaders(), ['Cache-Control', 'no-store']]),
    handle: compose<RequestContext>([
      onlyLocal('message box', messageBoxPath),
      async (ctx) => {
        const found = await messages.find({}, { sort: { createdAt: -1, _id: -1 }, limit: shownMessages }).toArray();
        ctx.type = 'html';
        ctx.body = messageBoxPage(found.map((row) => shownMessage(config, row)));
      },
    ]),
    renderError: pageError,
  };
}

function messageBoxPage(shown: readonly ShownMessage[]): string {
  return renderDocument({
    title: 'Text messages',
    kind: 'dashboard mail-box',
    firstScript: 'dashboard-page.js',
    children: (
      <main id="main">
        <PageHead title="Text messages">
          <p>The text messages of this development stack, newest first. Reload to see new ones.</p>
        </PageHead>
        {shown.length === 0 && (
          <Empty text="No text message yet: create a ride with notify.">
            <a class="btn" href="/docs/messages">
              How it works
            </a>
          </Empty>
        )}
        {shown.map((message) => (
          <MessageCard key={message._id} message={message} />
        ))}
      </main>
    ),
  });
}

function MessageCard({ message }: { message: ShownMessage }) {
  const { rideId, kind, person, state, reason, createdAt, opened } = message;
  return (
    <article class="card">
      <h2>{messageKindWords[kind]}</h2>
      <p class="quiet">
        {[`To ${personWords(person)}`, opened?.to].filter(Boolean).join(', ')}, <Time at={createdAt} />,{' '}
        {messageStateWords[state]}. <a href={ridePath(rideId)}>Ride</a>
      </p>
      {reason && <p class="quiet">{messageReason(reason)}</p>}
      {opened && <pre>{withLinks(opened.text)}</pre>}
    </article>
  );
}
