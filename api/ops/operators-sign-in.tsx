import { AppError } from '../../shared/base/errors.ts';
import { readForm } from '../http/body.ts';
import { pageHeaders } from '../http/security-headers.ts';
import { renderDocument } from '../pages/document.tsx';
import { pageError } from '../pages/error-page.tsx';
import { Mark } from '../pages/mark.tsx';
import type { Part, RequestContext } from '../part.ts';
import type { operatorsCookie } from './operators-cookie.ts';
import { queueBoardPath } from './queue-board-path.ts';

const path = '/ops';

/** Takes OPS_TOKEN in a form and gives the browser a cookie for it: a token in an address would stay in its history. */
export function operatorsSignIn(cookie: ReturnType<typeof operatorsCookie>): Part {
  const show = (ctx: RequestContext, isWrong: boolean) => {
    ctx.status = isWrong ? 403 : 200;
    ctx.type = 'html';
    ctx.body = signInPage(isWrong);
  };
  return {
    name: 'operators',
    owns: (candidate) => candidate === path || candidate === `${path}/`,
    headers: new Map([...pageHeaders(), ['Cache-Control', 'no-store']]),
    routes: () => ['GET', 'POST'].map((method) => ({ method, path })),
    async handle(ctx) {
      ctx.state.route = path;
      if (ctx.method === 'GET' || ctx.method === 'HEAD') {
        if (cookie.isHeld(ctx)) ctx.redirect(queueBoardPath);
        else show(ctx, false);
      } else if (ctx.method === 'POST') {
        const form = await readForm(ctx);
        if (!cookie.isToken(form.text('token'))) return show(ctx, true);
        cookie.write(ctx);
        ctx.status = 303;
        ctx.redirect(queueBoardPath);
      } else throw new AppError('method_not_allowed', { headers: { Allow: 'HEAD, GET, POST' } });
    },
    renderError: pageError,
  };
}

const signInPage = (isWrong: boolean): string =>
  renderDocument({
    title: 'Queues',
    kind: 'message',
    children: (
      <main>
        <Mark />
        <h1>Queues</h1>
        <form method="post" action={path} class="form operators-form">
          <div class="field">
            <label for="token">Token</label>
            <p class="hint" id="token-hint">
              The value of the setting OPS_TOKEN
            </p>
            {isWrong && (
              <p class="fault" id="token-fault" role="alert">
                This is not the token of this service
              </p>
            )}
            <input
              id="token"
              name="token"
              type="password"
              autocomplete="current-password"
              autofocus
              required
              aria-describedby={isWrong ? 'token-hint token-fault' : 'token-hint'}
              aria-invalid={isWrong || undefined}
            />
          </div>
          <button class="btn" type="submit">
            Show the queues
          </button>
        </form>
      </main>
    ),
  });
