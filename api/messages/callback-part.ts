import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import { callbackBase, isSigned, reportIn } from '../../shared/messages/callback.ts';
import { messages } from '../../shared/messages/message-row.ts';
import { finishMessage } from '../../shared/messages/stored-messages.ts';
import { readParameters } from '../http/body.ts';
import { requireHttps } from '../http/forwarded.ts';
import { jsonError } from '../http/handle-errors.ts';
import { paramOf, type Route, routesBelow } from '../http/route.ts';
import { dataHeaders } from '../http/security-headers.ts';
import type { Middleware, Part } from '../part.ts';

/** The callbacks of the provider of text messages, which report what became of a message. */
export function callbackPart(service: Context): Part {
  const routes: Route[] = [{ method: 'POST', path: '/:messageId', handle: recordReport(service) }];
  return {
    name: 'message callbacks',
    ...routesBelow(callbackBase, routes, { before: [requireHttps(service.config)] }),
    headers: dataHeaders,
    renderError: jsonError,
  };
}

/**
 * Records a signed report. Reports arrive in any order, possibly twice, and before the message is recorded as sent: each
 * only moves the message to a later state. Throws a 404 without a provider, and a 403 without its signature.
 */
function recordReport(service: Context): Middleware {
  return async (ctx) => {
    if (!service.config.secrets.smsUrl) throw new AppError('not_found');
    const messageId = paramOf(ctx, 'messageId');
    const form = await readParameters(ctx);
    const isFromProvider = isSigned(service.config, messageId, form, ctx.get('X-Twilio-Signature'));
    if (!isFromProvider) throw new AppError('forbidden');
    const report = reportIn(form);
    const message = report && (await messages.findOne({ _id: messageId }, { projection: { number: 1 } }));
    if (message) await finishMessage(service, message, report.state, report);
    ctx.status = 204;
  };
}
