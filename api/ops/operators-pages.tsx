import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import { withoutInvisible } from '../../shared/base/pasted.ts';
import type { OpsOptions } from '../../shared/process/ops/ops-server.ts';
import { assetPages } from '../../web/kit/asset-pages.ts';
import { Mark, renderDocument } from '../../web/kit/document.tsx';
import { pageError } from '../../web/kit/error-page.tsx';
import { readForm } from '../http/body.ts';
import { prefersPage } from '../http/find-part.ts';
import { pageHeaders } from '../http/security-headers.ts';
import type { Middleware, Part, RequestContext } from '../part.ts';
import { webPart } from '../web-part.ts';
import { findRidePart } from './find-ride.tsx';
import { type OperatorsAccess, operatorsAccess, operatorsPath } from './operators-access.ts';
import { queueBoard } from './queue-board.ts';
import { queueBoardPath } from './queue-board-path.ts';

const path = operatorsPath;

type OperatorsListener = NonNullable<OpsOptions['pages']>['listener'];

/**
 * The pages at the operators' port of the API: the queue board at `/ops/queues` and the search for a ride at
 * `/ops/rides`, for operators who have signed in with OPS_TOKEN or a personal token. Other browsers get the sign-in page,
 * all other requests a 404. Without OPS_TOKEN, and unless OPS_AUTH is `personal`, every page is a 404.
 */
export async function operatorsPages(
  service: Context,
  listenerOf: (service: Context, parts: readonly Part[]) => OperatorsListener,
): Promise<OpsOptions['pages']> {
  const parts = await operatorsParts(service);
  if (parts.length === 0) return undefined;
  return {
    owns: (path) => parts.some((part) => part.owns(path)),
    listener: listenerOf(service, parts),
  };
}

export async function operatorsParts(service: Context): Promise<Part[]> {
  const access = operatorsAccess(service);
  if (!access) return [];
  const admit: Middleware = async (ctx, next) => {
    if (await access.isHeld(ctx)) return next();
    // The operator's cookie has expired, or the address is a bookmark.
    if (isRead(ctx) && prefersPage(ctx)) {
      ctx.state.route = path;
      ctx.status = 303;
      return ctx.redirect(path);
    }
    throw new AppError('not_found');
  };
  return [
    await queueBoard(service.queues, admit),
    findRidePart(service, admit),
    signInPart(access),
    webPart(service, assetPages()),
  ];
}

const isRead = ({ method }: RequestContext): boolean => method === 'GET' || method === 'HEAD';

/**
 * Accepts a token and sets the cookie. The token is sent in a form, because an address would stay in the browser's
 * history.
 */
function signInPart(access: OperatorsAccess): Part {
  const show = (ctx: RequestContext, status: number, fault?: string) => {
    ctx.status = status;
    ctx.type = 'html';
    ctx.body = signInPage(fault);
  };
  return {
    name: 'operators',
    owns: (candidate) => candidate === path || candidate === `${path}/`,
    headers: new Map([...pageHeaders(), ['Cache-Control', 'no-store']]),
    routes: () => ['GET', 'POST'].map((method) => ({ method, path })),
    async handle(ctx) {
      ctx.state.route = path;
      if (isRead(ctx)) {
        if (await access.isHeld(ctx)) ctx.redirect(queueBoardPath);
        else show(ctx, 200);
      } else if (ctx.method === 'POST') {
        const form = await readForm(ctx);
        const refusal = await access.signIn(ctx, withoutInvisible(form.text('token')));
        if (refusal === 'wrong') return show(ctx, 403, 'This is not a valid token of this service');
        if (refusal) {
          const seconds = Math.ceil(refusal.tooMany / 1_000);
          ctx.set('Retry-After', String(seconds));
          return show(ctx, 429, `Too many wrong tokens: try again in ${Math.ceil(seconds / 60)} min`);
        }
        ctx.status = 303;
        ctx.redirect(queueBoardPath);
      } else throw new AppError('method_not_allowed', { headers: { Allow: 'HEAD, GET, POST' } });
    },
    renderError: pageError,
  };
}

const signInPage = (fault?: string): string =>
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
          <button class="btn" type="submit">
            Show the queues
          </button>
        </form>
      </main>
    ),
  });
