import type { AppError } from '../../shared/base/errors.ts';
import type { Answer } from './answer.ts';
import { Mark, renderDocument } from './document.tsx';
import { LanguageMenu } from './language-menu.tsx';
import { codeOf } from './languages.ts';

/** The text of an error page: the problem and the next step. */
interface Message {
  title: string;
  text: string;
  advice?: string;
}

const messages: Record<number, Message> = {
  400: { title: 'This request cannot be read', text: 'Something in the address or the form is invalid.' },
  403: {
    title: 'This was not sent from our page',
    text: 'Changes are accepted only from the pages of this service.',
    advice: 'Open the page again and repeat your change.',
  },
  404: {
    title: 'Page not found',
    text: 'The address may be mistyped, or the page no longer exists.',
    advice: 'Check the link, or continue here:',
  },
  405: { title: 'This does not work here', text: 'The address exists, but not for this kind of request.' },
  408: {
    title: 'This took too long to arrive',
    text: 'The connection was too slow.',
    advice: 'Load the page again.',
  },
  413: { title: 'Too much at once', text: 'The form is larger than this page accepts.', advice: 'Send less text.' },
  429: {
    title: 'Too many requests',
    text: 'There were too many requests in a short time.',
    advice: 'Try again in a minute.',
  },
  500: {
    title: 'Something went wrong',
    text: 'The fault is on our side, and we have logged it.',
    advice: 'Load the page again; nothing was lost.',
  },
  503: {
    title: 'The service is temporarily unavailable',
    text: 'It cannot be reached right now.',
    advice: 'Load the page again in a few seconds; nothing was lost.',
  },
};

/** The message where trying again helps, on pages in several languages. In English, each status has its own. */
const tryAgain: Readonly<Record<Exclude<ReturnType<typeof codeOf>, 'en'>, Message>> = {
  es: { title: 'Ahora mismo no es posible', text: 'Vuelva a intentarlo dentro de un minuto.' },
  fr: { title: 'Impossible pour le moment', text: 'Réessayez dans une minute.' },
  de: { title: 'Das geht gerade nicht', text: 'Versuchen Sie es in einer Minute noch einmal.' },
  pt: { title: 'Não é possível no momento', text: 'Tente de novo em um minuto.' },
  zh: { title: '暂时无法完成', text: '请一分钟后重试。' },
  ar: { title: 'تعذّر ذلك حاليًا', text: 'حاول مرة أخرى بعد دقيقة.' },
  he: { title: 'זה לא אפשרי כרגע', text: 'אפשר לנסות שוב בעוד דקה.' },
};

interface ErrorPageOptions {
  /** Identifies the error in the log. */
  requestId?: string;
  message?: Message;
  /** The language of the page (BCP 47); English by default. */
  locale?: string;
  /** For a page with a menu of languages: the word for "Language". */
  languageLabel?: string;
  /** Shows links to the parts of the service. */
  hasNavigation?: boolean;
}

/** Renders an error page. */
export function errorPage(
  status: number,
  { requestId, message = messageOf(status), locale, languageLabel, hasNavigation }: ErrorPageOptions = {},
): string {
  return renderDocument({
    title: message.title,
    kind: 'message',
    locale,
    children: (
      <main>
        <Mark />
        <h1>{message.title}</h1>
        <p>{message.text}</p>
        {message.advice && <p>{message.advice}</p>}
        {locale && languageLabel && <LanguageMenu locale={locale} label={languageLabel} />}
        {hasNavigation && <Navigation />}
        {requestId && (
          <p class="quiet small">
            Error {status}, request <code>{requestId}</code>
          </p>
        )}
      </main>
    ),
  });
}

const links = [
  ['/', 'Start page'],
  ['/dashboard', 'Dashboard'],
  ['/docs', 'Docs'],
  ['/drive', 'Drive'],
] as const;

const Navigation = () => (
  <nav aria-label="Ride Partner">
    <ul>
      {links.map(([href, name]) => (
        <li key={href}>
          <a href={href}>{name}</a>
        </li>
      ))}
    </ul>
  </nav>
);

/** The message for a status. It is a copy, so that the caller can change it. */
function messageOf(status: number): Message {
  return { ...(messages[status] ?? messages[status >= 500 ? 500 : 400]) } as Message;
}

/**
 * Renders the error page of a part; that of an unknown page has navigation. If trying again helps (408, 429, 5xx), the
 * page is in the reader's language (`reader`, BCP 47), otherwise in English.
 */
export function pageError(error: AppError, { state }: { state: { requestId: string } }, reader = 'en'): string {
  const code = codeOf(reader);
  if (code !== 'en' && (error.status === 408 || error.status === 429 || error.status >= 500)) {
    return errorPage(error.status, { requestId: state.requestId, message: tryAgain[code], locale: reader });
  }
  const message = messageOf(error.status);
  // The text of a 429 names the limit that was reached.
  if (error.status === 429) message.text = `${error.message}.`;
  return errorPage(error.status, { requestId: state.requestId, message, hasNavigation: error.status === 404 });
}

/** The answer to a change of a suspended account. */
export const suspended: Answer = {
  status: 403,
  code: 'account_suspended',
  html: errorPage(403, {
    message: {
      title: 'This account is suspended',
      text: 'You can view everything but change nothing. Requests with its keys are answered 401.',
      advice: 'Ask the operator of this service.',
    },
  }),
};
