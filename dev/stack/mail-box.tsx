import type { Part } from '../../api/part.ts';
import type { Context } from '../../shared/base/context.ts';
import { type MailText, openMail } from '../../shared/mail/mail.ts';
import { type MailRow, mails } from '../../shared/mail/mail-row.ts';
import { CopyButton } from '../../web/kit/blocks.tsx';
import { Time } from '../../web/kit/facts.tsx';
import { localBox, newest, withLinks } from './local-box.tsx';
import { mailBoxPath } from './local-pages.ts';

/** The page that lists the mails. The stack sends them only if SMTP_URL is set. */
export const mailBox = ({ config }: Context): Part => ({
  ...localBox({
    name: 'mail box',
    path: mailBoxPath,
    title: 'Mail',
    what: 'mails',
    empty: { text: 'No mail yet: ask for a code on the sign-in page.', href: '/dashboard', label: 'Sign in' },
    cards: async () =>
      (await mails.find({}, newest).toArray()).map((mail) => (
        <MailCard key={mail._id} mail={mail} text={mail.sealed === undefined ? null : openMail(config, mail)} />
      )),
  }),
  mailPage: mailBoxPath,
});

const states = {
  waiting: 'waiting to be sent',
  sent: 'sent to the mail server of SMTP_URL; its text is erased',
  failed: 'not sent',
  kept: '',
};

/** `text` is null once it is erased. */
function MailCard({ mail, text }: { mail: MailRow; text: MailText | null }) {
  const code = text?.text.match(/\b\d{6}\b/)?.[0];
  const state = [states[mail.state], mail.reason].filter(Boolean).join(': ');
  return (
    <article class="card stack">
      <h2>{text?.subject ?? 'A mail'}</h2>
      <p class="quiet">
        {text && <>To {text.to}, </>}
        <Time at={mail.createdAt} />
        {state && `, ${state}`}
      </p>
      {code && (
        <p class="found-code row">
          <code>{code}</code>
          <CopyButton text={code} what="code" />
        </p>
      )}
      {/* The link of a code mail signs in with one click. */}
      {text && <pre>{withLinks(text.text)}</pre>}
    </article>
  );
}
