import type { Part } from '../../api/part.ts';
import type { Context } from '../../shared/base/context.ts';
import { messages } from '../../shared/messages/message-row.ts';
import { type ShownMessage, shownMessage } from '../../shared/messages/stored-messages.ts';
import { Time } from '../../web/kit/facts.tsx';
import { messageKindWords, messageReason, messageStateWords, personWords } from '../../web/kit/message-words.ts';
import { ridePath } from '../../web/kit/paths.ts';
import { localBox, newest, withLinks } from './local-box.tsx';
import { messageBoxPath } from './local-pages.ts';

/** The page that lists the text messages. The stack sends those of live rides only if SMS_URL is set, and those of test rides never. */
export const messageBox = ({ config }: Context): Part =>
  localBox({
    name: 'message box',
    path: messageBoxPath,
    title: 'Text messages',
    what: 'text messages',
    empty: { text: 'No text message yet: create a ride with notify.', href: '/docs/messages', label: 'How it works' },
    cards: async () =>
      (await messages.find({}, newest).toArray()).map((row) => (
        <MessageCard key={row._id} message={shownMessage(config, row)} />
      )),
  });

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
