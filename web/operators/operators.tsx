import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import { withoutInvisible } from '../../shared/base/pasted.ts';
import type { Answer, PageCookie, PublicRequest } from '../kit/answer.ts';
import { Submit } from '../kit/blocks.tsx';
import { Mark, renderDocument } from '../kit/document.tsx';
import { pageError } from '../kit/error-page.tsx';
import type { PublicPages } from '../kit/public-pages.ts';
import { findRidePages } from './find-ride.tsx';
import { type OperatorsAccess, operatorsAccess, operatorsLifetimeMs, operatorsPath } from './operators-access.ts';
import { queueBoard } from './queue-board.ts';
import { queueBoardPath } from './queue-board-path.ts';

/** What the requests of operators have beyond `PublicRequest`. */
export interface OfOperator {
  cookie: Pick<PageCookie, 'read' | 'write'>;
}

/**
 * The pages at the operators' port of the API: the queue board at `/ops/queues` and the search for a ride at
 * `/ops/rides`, for operators who have signed in with OPS_TOKEN or a personal token. Other browsers get the sign-in page,
 * all other requests a 404. Without OPS_TOKEN, and unless OPS_AUTH is `personal`, there are no pages.
 */
export async function operatorsPages(service: Context): Promise<PublicPages<OfOperator>[]> {
  const access = operatorsAccess(service);
  if (!access) return [];
  const admit = async ({ method, cookie, prefersPage }: PublicRequest & OfOperator): Promise<Answer | null> => {
    if (await access.isValid(cookie.read())) return null;
    // The operator's cookie has expired, or the address is a bookmark.
    if ((method === 'GET' || method === 'HEAD') && prefersPage()) return { redirectTo: operatorsPath };
    throw new AppError('not_found');
  };
  return [await queueBoard(service.queues, admit), findRidePages(service, admit), signInPages(access)];
}

/**
 * Accepts a token and sets the cookie. The token is sent in a form, because an address would stay in the browser's
 * history.
 */
const signInPages = (access: OperatorsAccess): PublicPages<OfOperator> => ({
  name: 'operators',
  base: operatorsPath,
  owns: (path) => path === operatorsPath || path === `${operatorsPath}/`,
  headers: { 'Cache-Control': 'no-store' },
  logAs: operatorsPath,
  routes: [
    {
      method: 'GET',
      path: '/',
      async answer({ cookie }) {
        if (await access.isValid(cookie.read())) return { redirectTo: queueBoardPath, status: 302 };
        return { html: signInPage() };
      },
    },
    {
      method: 'POST',
      path: '/',
      async answer({ cookie, client, form }) {
        const given = withoutInvisible((await form()).text('token'));
        const result = await access.signIn(given, client());
        if (result === 'wrong') return { html: signInPage('This is not a valid token of this service'), status: 403 };
        if ('tooMany' in result) {
          const seconds = Math.ceil(result.tooMany / 1_000);
          const fault = `Too many wrong tokens: try again in ${Math.ceil(seconds / 60)} min`;
          return { html: signInPage(fault), status: 429, headers: { 'Retry-After': String(seconds) } };
        }
        cookie.write(result.cookie, operatorsLifetimeMs);
        return { redirectTo: queueBoardPath };
      },
    },
  ],
  renderError: pageError,
});

const signInPage = (fault?: string): string =>
  renderDocument({
    title: 'Queues',
    kind: 'message',
    children: (
      <main>
        <Mark />
        <h1>Queues</h1>
        <form method="post" action={operatorsPath} class="form">
          <div class="field">
            <label for="token">Token</label>
            <p class="hint" id="token-hint">
              Your personal token, or the value of the setting OPS_TOKEN
            </p>
            {fault && (
              <p class="fault" id="token-fault" role="alert">
                {fault}
              </p>
            )}
            <input
              id="token"
              name="token"
              type="password"
              autocomplete="current-password"
              autofocus
              required
              aria-describedby={fault ? 'token-hint token-fault' : 'token-hint'}
              aria-invalid={fault !== undefined || undefined}
            />
          </div>
          <Submit>Show the queues</Submit>
        </form>
      </main>
    ),
  });
