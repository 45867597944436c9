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

/** The messages of pages in several languages. In English, each status has its own. */
const translated: Readonly<
  Record<Exclude<ReturnType<typeof codeOf>, 'en'>, Record<'tryAgain' | 'notFound' | 'refused', Message>>
> = {
  es: {
    tryAgain: { title: 'Ahora mismo no es posible', text: 'Vuelva a intentarlo dentro de un minuto.' },
    notFound: { title: 'Página no encontrada', text: 'Compruebe el enlace o vuelva a la página anterior.' },
    refused: {
      title: 'Esto no ha funcionado',
      text: 'Vuelva a la página anterior, cárguela de nuevo y repita lo que hizo.',
    },
  },
  fr: {
    tryAgain: { title: 'Impossible pour le moment', text: 'Réessayez dans une minute.' },
    notFound: { title: 'Page introuvable', text: 'Vérifiez le lien ou revenez à la page précédente.' },
    refused: { title: 'Cela n’a pas fonctionné', text: 'Revenez à la page précédente, rechargez-la et recommencez.' },
  },
  de: {
    tryAgain: { title: 'Das geht gerade nicht', text: 'Versuchen Sie es in einer Minute noch einmal.' },
    notFound: { title: 'Seite nicht gefunden', text: 'Prüfen Sie den Link, oder gehen Sie zurück.' },
    refused: {
      title: 'Das hat nicht funktioniert',
      text: 'Gehen Sie zurück, laden Sie die Seite neu und wiederholen Sie Ihre Eingabe.',
    },
  },
  pt: {
    tryAgain: { title: 'Não é possível no momento', text: 'Tente de novo em um minuto.' },
    notFound: { title: 'Página não encontrada', text: 'Verifique o link ou volte à página anterior.' },
    refused: { title: 'Isso não funcionou', text: 'Volte à página anterior, recarregue-a e tente de novo.' },
  },
  zh: {
    tryAgain: { title: '暂时无法完成', text: '请一分钟后重试。' },
    notFound: { title: '找不到该页面', text: '请检查链接，或返回上一页。' },
    refused: { title: '操作未成功', text: '请返回上一页，刷新后重试。' },
  },
  ar: {
    tryAgain: { title: 'تعذّر ذلك حاليًا', text: 'حاول مرة أخرى بعد دقيقة.' },
    notFound: { title: 'الصفحة غير موجودة', text: 'تحقق من الرابط أو ارجع إلى الصفحة السابقة.' },
    refused: { title: 'لم ينجح ذلك', text: 'ارجع إلى الصفحة السابقة وأعد تحميلها ثم حاول مرة أخرى.' },
  },
  he: {
    tryAgain: { title: 'זה לא אפשרי כרגע', text: 'אפשר לנסות שוב בעוד דקה.' },
    notFound: { title: 'העמוד לא נמצא', text: 'אפשר לבדוק את הקישור או לחזור לעמוד הקודם.' },
    refused: { title: 'זה לא הצליח', text: 'אפשר לחזור לעמוד הקודם, לטעון אותו מחדש ולנסות שוב.' },
  },
};

interface ErrorPageOptions {
  /** Identifies the error in the log. */
  requestId?: string;
  message?: Message;
  /** The language of the page (BCP 47); English by default. */
  locale?: string;
  /** Shows the menu of languages. */
  hasLanguages?: boolean;
  /** Shows links to the parts of the service. */
  hasNavigation?: boolean;
}

/** Renders an error page. */
export function errorPage(
  status: number,
  { requestId, message = messageOf(status), locale, hasLanguages, hasNavigation }: ErrorPageOptions = {},
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
        {locale && hasLanguages && <LanguageMenu locale={locale} />}
        {hasNavigation && <Navigation />}
        {requestId && (
          <p class="hint">
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
    <ul class="links">
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
 * Renders the error page of a part in the reader's language (BCP 47); that of an unknown page has navigation.
 */
export function pageError(error: AppError, { state }: { state: { requestId: string } }, reader = 'en'): string {
  const { status } = error;
  const options = { requestId: state.requestId, hasNavigation: status === 404 };
  const code = codeOf(reader);
  if (code !== 'en') {
    const { tryAgain, notFound, refused } = translated[code];
    const isTemporary = status === 408 || status === 429 || status >= 500;
    const message = isTemporary ? tryAgain : status === 404 ? notFound : refused;
    return errorPage(status, { ...options, message, locale: reader });
  }
  const message = messageOf(status);
  // The text of a 429 names the limit that was reached.
  if (status === 429) message.text = `${error.message}.`;
  return errorPage(status, { ...options, message });
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
