import {
  type CodeResult,
  codeRequestId,
  enterCode,
  newCode,
  type Proof,
  parseCode,
} from '../../shared/accounts/enter-code.ts';
import { type Browser, type MailRefusal, reportedWrongCodes } from '../../shared/accounts/sign-in-limits.ts';
import { derivedMailId } from '../../shared/base/ids.ts';
import { isMailStored, sendMail } from '../../shared/mail/mail.ts';
import { type Answer, type PageRequest, retryAfter } from '../kit/answer.ts';
import { ButtonLink } from '../kit/blocks.tsx';
import { outsidePage } from '../kit/document.tsx';
import { waitText } from '../kit/facts.tsx';
import { ChangeForm, TextField } from '../kit/forms.tsx';
import { codeMail, wrongCodesMail } from './sign-in-mails.ts';

type AnyRequest = Pick<PageRequest, 'service' | 'client'>;

interface CodeRequest {
  email: string;
  browser: Browser;
  formId: string;
}

/*
 * The steps that sign-in and session confirmation share. Each is idempotent for the same form.
 */

/** Sends one mail per form, with a code and a link. Resolves with null, or with the page of a reached limit. */
export async function mailCode(
  { service, client }: AnyRequest,
  asking: CodeRequest & { next: string; invitation?: string },
): Promise<Answer | null> {
  const { config } = service;
  const now = service.now();
  const mailId = derivedMailId('code', codeRequestId(asking));
  // The mail is stored last, so a stored mail means that all steps are done.
  if (await isMailStored(mailId)) return null;
  const made = await newCode(config, { ...asking, client: client() }, now);
  if ('tooMany' in made) return tooManyMails(made);
  await sendMail(service, { to: asking.email, ...codeMail(config, made, new Date(now)) }, mailId);
  return null;
}

/** Checks a typed code. Resolves with the proof, the fault of the field, or the page of a reached limit. */
export async function checkCode(
  { service }: AnyRequest,
  { typed, ...asking }: CodeRequest & { typed: string },
): Promise<Proof | { fault: string } | { page: Answer }> {
  const { config } = service;
  const now = service.now();
  const code = parseCode(typed);
  if (!code) return { fault: 'Enter the six digits of the code' };
  const entered = await enterCode(config, { ...asking, code }, now);
  if (entered.result === 'right') return entered;
  if (entered.result === 'too many') return { page: tooManyCodes(entered.freesMs) };
  if (entered.result === 'wrong' && entered.wrongToday >= reportedWrongCodes) {
    const { email } = asking;
    const at = new Date(now);
    const mailId = derivedMailId('wrong codes', email, at.toISOString().slice(0, 10));
    await sendMail(service, { to: email, ...wrongCodesMail(config, entered.wrongToday, at) }, mailId);
  }
  return { fault: faultOf(entered) };
}

function faultOf(entered: Extract<CodeResult, { result: 'wrong' | 'no code' }>): string {
  if (entered.result === 'no code') return 'This code no longer works: send a new one';
  const { triesLeft } = entered;
  if (triesLeft === 0) return 'This is the fifth wrong code: send a new one';
  return `This code is wrong: ${triesLeft === 1 ? 'one try is' : `${triesLeft} tries are`} left`;
}

const mailLimitTexts: Record<MailRefusal['tooMany'], string> = {
  'to the address':
    'Five codes were sent to this address within an hour. One of them may still arrive: check the spam folder too. Each mail also has a link, which works for an hour.',
  'for the client': 'Twenty codes were requested from your network address within an hour.',
  'in all':
    'This service has reached its hourly limit of codes for new browsers. You can get a code now in a browser in which you have signed in before.',
};

const tooManyMails = ({ tooMany, freesMs }: MailRefusal): Answer =>
  limited({ title: 'Too many codes', text: mailLimitTexts[tooMany], waitMs: freesMs });

const tooManyCodes = (waitMs: number): Answer =>
  limited({
    title: 'Too many wrong codes',
    text: 'Wrong codes were entered for this address, here or in another browser. Each one makes the wait longer, and after 20 within a day no code is accepted.',
    help: 'You can sign in now with the link in the mail: open it in this browser. It works for an hour, and this limit does not apply to it.',
    waitMs,
  });

/** The page for a limit that was reached: its cause, the time to wait, and another way in if one exists. */
function limited({ title, text, help, waitMs }: Record<'title' | 'text', string> & { help?: string; waitMs: number }) {
  const html = outsidePage({
    title,
    children: (
      <>
        <p>{text}</p>
        {help && (
          <div class="notice">
            <p>{help}</p>
          </div>
        )}
        <p>
          <strong>Try again in {waitText(waitMs)}.</strong>
        </p>
        <p>
          <ButtonLink to="/dashboard">Go to sign in</ButtonLink>
        </p>
      </>
    ),
  });
  return { html, status: 429, headers: retryAfter(waitMs) };
}

/** The content of a page of a service without a mail server: no code can be sent. */
export const NoMail = () => (
  <div class="notice bad">
    <p>
      <strong>Mail is not set up.</strong> Signing in needs a code that is sent by e-mail, and this service has no mail
      server yet.
    </p>
    <p>
      The operator sets <code>SMTP_URL</code> and <code>MAIL_FROM</code>, and restarts the API and the worker pool{' '}
      <code>mail</code>.
    </p>
  </div>
);

/** The answer of a service without a mail server. */
export const noMail = (status = 503) => ({ html: outsidePage({ title: 'Sign in', children: <NoMail /> }), status });

/** The script of a page with a `CodeForm`. It sends the form as soon as it has six digits. */
export const codeScript = 'sign-in-code.browser.js';

/** The form in which the person enters the code. A fault is only shown here, and the field gets the focus. */
export function CodeForm({
  action,
  next,
  fault,
  typed,
  hasCode,
  autofocus,
  button,
}: {
  action: string;
  next: string;
  fault?: string;
  /** The refused code. It stays in the field while other codes are accepted. */
  typed?: string;
  hasCode: boolean;
  autofocus: boolean;
  button: string;
}) {
  return (
    <ChangeForm action={action} class="form">
      <input type="hidden" name="next" value={next} />
      <TextField
        name="code"
        label="Code"
        hint="Six digits, such as 123 456"
        faults={fault ? { code: fault } : undefined}
        value={hasCode ? typed : undefined}
        autocomplete="one-time-code"
        inputmode="numeric"
        maxLength={32}
        autofocus={autofocus}
      />
      <button class={hasCode ? 'btn' : 'btn second'} type="submit">
        {button}
      </button>
    </ChangeForm>
  );
}

/** A development stack sends no mails: a page lists them. */
export function MailHint({ mailPage }: { mailPage?: string }) {
  if (!mailPage) return null;
  return (
    <p class="notice">
      <span>
        This is a development stack: the code is on the page <a href={mailPage}>Mail</a>.
      </span>
    </p>
  );
}

/** Says that a code was sent, or that a new one is needed. */
export function CodeLead({ email, hasCode }: { email: string; hasCode: boolean }) {
  const address = <strong class="address">{email}</strong>;
  if (!hasCode) return <p>No code for {address} works any more. Send a new one.</p>;
  return (
    <p>
      We have sent a code to {address}. It works for 15 minutes, only in this browser. You can also open the link in the
      mail, in this browser.
    </p>
  );
}
