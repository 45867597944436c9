import { buffer } from 'node:stream/consumers';
import compose from 'koa-compose';
import { jsonError } from '../../api/http/handle-errors.ts';
import { isBelow } from '../../api/http/route.ts';
import { dataHeaders } from '../../api/http/security-headers.ts';
import type { Middleware, Part, RequestContext } from '../../api/part.ts';
import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import { deliverySettings } from '../../shared/keys/delivery-settings.ts';
import { verifySignature } from '../../shared/webhooks/sign.ts';
import { onlyLocal, receiverPath } from './local-pages.ts';

/**
 * The receiver of the stack's own webhooks, so that a first event is delivered before a developer has a server. The
 * last part of its path is the id of the key. It answers 200 to a genuine event, and 401 to any other.
 */
export function receiver({ config, now }: Pick<Context, 'config' | 'now'>): Part {
  const check: Middleware = async (ctx) => {
    if (ctx.method !== 'POST') throw new AppError('method_not_allowed', { headers: { Allow: 'POST' } });
    const { signingSecret } = await deliverySettings(config, ctx.path.slice(receiverPath.length + 1));
    const body = await buffer(ctx.req);
    const isGenuine = verifySignature(signingSecret, ctx.get('x-service-signature'), body, now() / 1_000);
    ctx.status = isGenuine ? 200 : 401;
    ctx.body = { receiver: 'of the development stack', signature: isGenuine ? 'verified' : 'wrong' };
  };
  return {
    name: 'receiver',
    owns: isBelow(receiverPath),
    headers: new Map([...dataHeaders, ['Cache-Control', 'no-store']]),
    routes: () => [{ method: 'POST', path: receiverPath }],
    handle: compose<RequestContext>([onlyLocal('receiver', receiverPath), check]),
    renderError: jsonError,
  };
}
