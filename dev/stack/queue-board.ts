import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { KoaAdapter } from '@bull-board/koa';
import type { Middleware, RequestContext } from '../../api/types.ts';
import type { Queues } from '../../shared/queues.ts';

export const queueBoardPath = '/ops/queues';

const localNames = new Set(['127.0.0.1', 'localhost', '[::1]']);
/** The board's own files and no other's; its page asks for fonts of Google, which are left out. */
const contentPolicy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'";

/** Every queue with its jobs, to look into and to act on: for the developer at this machine alone. */
export function queueBoard(queues: Queues): Middleware[] {
  const adapter = new KoaAdapter().setBasePath(queueBoardPath);
  createBullBoard({
    queues: Object.values(queues).map((queue) => new BullMQAdapter(queue)),
    serverAdapter: adapter,
    options: { uiConfig: { boardTitle: 'Rides', pollingInterval: { forceInterval: 3 } } },
  });
  return [onlyLocal, adapter.registerPlugin() as unknown as Middleware];
}

const onlyLocal: Middleware = async (ctx, next) => {
  if (ctx.path !== queueBoardPath && !ctx.path.startsWith(`${queueBoardPath}/`)) return next();
  ctx.state.route = queueBoardPath;
  if (!isLocal(ctx)) {
    ctx.status = 403;
    ctx.body = { error: 'The queue board is for this machine alone' };
    return;
  }
  ctx.set('Content-Security-Policy', contentPolicy);
  await next();
};

/**
 * The peer is this machine, and so is the name it asked for: a page of elsewhere could let its own name lead here (DNS
 * rebinding). A page of elsewhere that uses our name tells its origin, and a proxy that passes on others' requests itself.
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
