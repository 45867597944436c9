import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import { sha256 } from '../../shared/base/ids.ts';
import type { OpsOptions } from '../../shared/process/ops/ops-server.ts';
import { readForm } from '../http/body.ts';
import { prefersPage } from '../http/find-part.ts';
import { pageHeaders } from '../http/security-headers.ts';
import { assetsPart } from '../pages/assets-part.ts';
import { Mark, renderDocument } from '../pages/document.tsx';
import { pageError } from '../pages/error-page.tsx';
import type { Middleware, Part, RequestContext } from '../part.ts';
import { findRidePart } from './find-ride.tsx';
import { queueBoard } from './queue-board.ts';
import { queueBoardPath } from './queue-board-path.ts';

const path = '/ops';
const cookieName = 'rides_ops';
const sessionLifetimeMs = 12 * 3_600_000;

type OperatorsListener = NonNullable<OpsOptions['pages']>['listener'];

/**
 * The pages at the operators' port of the API: the queue board at `/ops/queues` and the search for a ride at
 * `/ops/rides`, for operators who have signed in with OPS_TOKEN. Other browsers get the sign-in page, all other requests
 * a 404. Without that setting, every page is a 404.
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
  const { opsToken } = service.config.secrets;
  if (!opsToken) return [];
  const cookie = operatorsCookie(opsToken, service.now);
  const admit: Middleware = (ctx, next) => {
    if (cookie.isHeld(ctx)) return next();
    // The operator's cookie has expired, or the address is a bookmark.
    if (isRead(ctx) && prefersPage(ctx)) {
      ctx.state.route = path;
      ctx.status = 303;
      return ctx.redirect(path);
    }
    throw new AppError('not_found');
  };
  return [await queueBoard(service.queues, admit), findRidePart(service, admit), signInPart(cookie), assetsPart()];
}

const isRead = ({ method }: RequestContext): boolean => method === 'GET' || method === 'HEAD';

/** The cookie that a browser gets in exchange for OPS_TOKEN. It contains its expiry and an HMAC, never the token. */
export function operatorsCookie(token: string, now: () => number) {
  const proofOf = (until: string) =>
    createHmac('sha256', token).update(`operators’ cookie ${until}`).digest('base64url');
  return {
    isToken: (given: string): boolean => isSame(given, token),
    write(ctx: RequestContext): void {
      const until = String(now() + sessionLifetimeMs);
      // Not `secure`, because the operators' port serves plain HTTP, on loopback or through a tunnel.
      const options = {
        httpOnly: true,
        sameSite: 'strict',
        path,
        maxAge: sessionLifetimeMs,
        overwrite: true,
      } as const;
      ctx.cookies.set(cookieName, `${until}.${proofOf(until)}`, options);
    },
    isHeld(ctx: RequestContext): boolean {
      const [until = '', proof = ''] = (ctx.cookies.get(cookieName) ?? '').split('.');
      return isSame(proof, proofOf(until)) && Number(until) > now();
    },
  };
}

/** Compares in constant time. Hashing gives both the same length, which timingSafeEqual requires. */
const isSame = (a: string, b: string): boolean => timingSafeEqual(Buffer.from(sha256(a)), Buffer.from(sha256(b)));

/**
 * Accepts OPS_TOKEN and sets the cookie. The token is sent in a form, because an address would stay in the browser's
 * history.
 */
function signInPart(cookie: ReturnType<typeof operatorsCookie>): Part {
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
      if (isRead(ctx)) {
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
