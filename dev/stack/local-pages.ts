import type { Middleware, RequestContext } from '../../api/part.ts';

/** Pages of a development stack, for this machine only. */
export const mailBoxPath = '/dev/mail';
export const messageBoxPath = '/dev/messages';
export const receiverPath = '/dev/receiver';

/** The account of the stack's test key. It signs in to the dashboard with the code that the mail box shows. */
export const devEmail = 'dev@example.com';

const localNames = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** True if the pages for this machine answer at this address of a stack. */
export const hasLocalPages = (url: string): boolean => localNames.has(new URL(url).hostname);

/** Answers 403 to every request from another machine. `what` names the page in the error, `route` is logged. */
export function onlyLocal(what: string, route: string): Middleware {
  return async (ctx, next) => {
    ctx.state.route = route;
    if (!isLocal(ctx)) {
      ctx.status = 403;
      ctx.body = { error: `The ${what} is only available on this machine` };
      return;
    }
    await next();
  };
}

/**
 * True if the request comes from this machine and is for a host name of this machine. The host name matters, because
 * another site's name can lead here (DNS rebinding). A page of another site that uses our name sends its own origin,
 * and a proxy that forwards requests adds its headers; such requests are not local.
 */
function isLocal(ctx: RequestContext): boolean {
  const peer = ctx.req.socket.remoteAddress ?? '';
  const isLoopback = peer === '::1' || /^(::ffff:)?127\./.test(peer);
  const origin = ctx.get('origin');
  const host = ctx.get('host');
  const isOwnPage = origin === '' || origin === `http://${host}`;
  const isDirect = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'via'].every((name) => ctx.get(name) === '');
  return isLoopback && isDirect && isOwnPage && localNames.has(host.replace(/:\d+$/, '').toLowerCase());
}
