import compose from 'koa-compose';
import { pageHeaders } from '../../api/http/security-headers.ts';
import type { Middleware, Part, RequestContext } from '../../api/part.ts';
import type { Context } from '../../shared/base/context.ts';
import { type MailText, openMail } from '../../shared/mail/mail.ts';
import { type MailRow, mails } from '../../shared/mail/mail-row.ts';
import { CopyButton, Empty, PageHead } from '../../web/kit/blocks.tsx';
import { renderDocument } from '../../web/kit/document.tsx';
import { pageError } from '../../web/kit/error-page.tsx';
import { Time } from '../../web/kit/facts.tsx';
import { mailBoxPath, onlyLocal } from './local-pages.ts';
import { withLinks } from './with-links.tsx';

const shownMails = 50;

/**
 * The page that lists the mails of a development stack, for this machine only. The stack sends mails only if SMTP_URL
 * is set.
 */
export function mailBox(service: Context): Part {
  return {
    name: 'mail box',
    owns: (path) => path === mailBoxPath,
    routes: () => [{ method: 'GET', path: mailBoxPath }],
    mailPage: mailBoxPath,
    headers: new Map([...pageHeaders(), ['Cache-Control', 'no-store']]),
    handle: compose<RequestContext>([onlyLocal('mail box', mailBoxPath), showMails(service)]),
    renderError: pageError,
  };
}

function showMails({ config }: Context): Middleware {
  return async (ctx) => {
    const found = await mails.find({}, { sort: { createdAt: -1, _id: -1 }, limit: shownMails }).toArray();
    ctx.type = 'html';
    ctx.body = mailBoxPage(
      found.map((mail) => ({ mail, text: mail.sealed === undefined ? null : openMail(config, mail) })),
    );
  };
}

interface ShownMail {
  mail: MailRow;
  /** The text of the mail; null once it is erased. */
  text: MailText | null;
}

function mailBoxPage(shown: readonly ShownMail[]): string {
  return renderDocument({
    title: 'Mail',
    kind: 'dashboard mail-box',
    firstScript: 'dashboard-page.js',
    children: (
      <main id="main">
        <PageHead title="Mail">
          <p>The mails of this development stack, newest first. Reload to see new ones.</p>
        </PageHead>
        {shown.length === 0 && (
          <Empty text="No mail yet: ask for a code on the sign-in page.">
            <a class="btn" href="/dashboard">
              Sign in
            </a>
          </Empty>
        )}
        {shown.map(({ mail, text }) => (
          <MailCard key={mail._id} mail={mail} text={text} />
        ))}
      </main>
    ),
  });
}

const states = {
  waiting: 'waiting to be sent',
  sent: 'sent to the mail server of SMTP_URL; its text is erased',
  failed: 'not sent',
  kept: '',
};

function MailCard({ mail, text }: ShownMail) {
  const code = text?.text.match(/\b\d{6}\b/)?.[0];
  const state = [states[mail.state], mail.reason].filter(Boolean).join(': ');
  return (
    <article class="card">
      <h2>{text?.subject ?? 'A mail'}</h2>
      <p class="quiet">
        {text && <>To {text.to}, </>}
        <Time at={mail.createdAt} />
        {state && `, ${state}`}
      </p>
      {code && (
        <p class="found-code">
          <code>{code}</code>
          <CopyButton text={code} what="code" />
        </p>
      )}
      {/* The link of a code mail signs in with one click. */}
      {text && <pre>{withLinks(text.text)}</pre>}
    </article>
  );
}
