import compose from 'koa-compose';
import type { Context } from '../shared/base/context.ts';
import { errorCodeHeader } from '../shared/base/errors.ts';
import type { Answer, FileAnswer, OpenStream, PublicRequest } from '../web/kit/answer.ts';
import type { Answering, PublicPages } from '../web/kit/public-pages.ts';
import { readForm } from './http/body.ts';
import { hostCookie } from './http/credentials.ts';
import { prefersPage } from './http/find-part.ts';
import { clientAddress, clientNetwork } from './http/forwarded.ts';
import { jsonError } from './http/handle-errors.ts';
import { isBelow, routesBelow } from './http/route.ts';
import { dataHeaders, pageHeaders } from './http/security-headers.ts';
import type { Middleware, Part, RequestContext } from './part.ts';
import { createStreams, type Streams } from './streams/streams.ts';

interface Options<More> {
  /** Runs before the pages. */
  before?: Middleware[];
  /** Adds fields to each request. */
  more?(ctx: RequestContext): More;
}

/** Serves pages: each gets a described request, and its answer becomes a response. */
export function webPart<More = object>(
  service: Pick<Context, 'config' | 'log'>,
  pages: PublicPages<More>,
  { before = [], more }: Options<More> = {},
): Part {
  const { name, base, routes, security, admit, logAs, renderError } = pages;
  const streams = pages.hasStreams && createStreams({ ...service.config.streams, client: 'network address' });
  const describe = (ctx: RequestContext) =>
    ({ ...describeRequest(ctx, service), ...more?.(ctx) }) as PublicRequest & More;
  const answerWith = (answer: Answering<More>) =>
    handleWith(describe, answer, (ctx, request) => (streams as Streams).open(ctx, request.client()));
  const admitted: Middleware = async (ctx, next) => {
    if (logAs) ctx.state.route = logAs;
    const refusal = admit && (await admit(describe(ctx)));
    if (!refusal) return next();
    respond(ctx, refusal);
  };
  const steps = [...before, admitted];
  const routed =
    'paths' in routes
      ? {
          owns: isBelow(base),
          routes: () => routes.paths().map((path) => ({ method: 'GET', path })),
          handle: compose<RequestContext>([...steps, answerWith(routes.answer)]),
        }
      : routesBelow(
          base,
          routes.map(({ answer, ...route }) => ({ ...route, handle: answerWith(answer) })),
          { before: steps },
        );
  return {
    name,
    ...routed,
    ...(pages.owns && { owns: pages.owns }),
    ...(pages.onlyForPages && { onlyForPages: true }),
    headers: new Map([
      ...(security === 'data' ? dataHeaders : pageHeaders(security)),
      ...Object.entries(pages.headers ?? {}),
    ]),
    renderError: renderError
      ? (error, ctx) => renderError(error, { ...describeRequest(ctx, service), state: ctx.state })
      : jsonError,
    ...(streams && { endHeld: streams.endAll, close: async () => streams.close() }),
  };
}

/** Answers a described request. */
export const handleWith =
  <Request extends PublicRequest>(
    describe: (ctx: RequestContext) => Request,
    answer: (request: Request) => ReturnType<Answering<object>>,
    openStream?: (ctx: RequestContext, request: Request) => OpenStream,
  ): Middleware =>
  async (ctx, next) => {
    const request = describe(ctx);
    const answered = await answer(request);
    return answered ? respond(ctx, answered, openStream && (() => openStream(ctx, request))) : next();
  };

/** Describes a request for a page, without Koa. */
export function describeRequest(ctx: RequestContext, service: Pick<Context, 'config' | 'log'>): PublicRequest {
  const { params = {} } = ctx as unknown as { params?: Record<string, string> };
  return {
    requestId: ctx.state.requestId,
    method: ctx.method,
    path: ctx.path,
    param: (name) => params[name] ?? '',
    query: (name) => [ctx.query[name] ?? ''].flat()[0] ?? '',
    has: (name) => name in ctx.query,
    all: { params, query: ctx.query },
    header: (name) => ctx.get(name),
    prefersPage: () => prefersPage(ctx),
    client: () => clientNetwork(clientAddress(ctx, service)),
    hostCookie: (name) => hostCookie(service.config, name)(ctx),
    form: () => readForm(ctx),
  };
}

/** Turns an answer into the response. */
export function respond(ctx: RequestContext, answer: Answer, openStream?: () => OpenStream): void {
  if ('html' in answer) {
    ctx.set({ ...answer.headers, ...(answer.code && { [errorCodeHeader]: answer.code }) });
    ctx.status = answer.status ?? 200;
    ctx.type = 'html';
    ctx.body = answer.html;
  } else if ('redirectTo' in answer) {
    ctx.redirect(answer.redirectTo);
    ctx.status = answer.status ?? 303;
    if (ctx.status === 303) ctx.body = '';
  } else if ('json' in answer) {
    ctx.set({ ...answer.headers });
    ctx.status = answer.status ?? 200;
    ctx.body = answer.json;
  } else if ('file' in answer) {
    sendFile(ctx, answer);
  } else if ('stream' in answer) {
    if (openStream) answer.stream(openStream);
  } else {
    ctx.status = 204;
  }
}

function sendFile(ctx: RequestContext, { file, type, headers, encoded, etag, route }: FileAnswer): void {
  if (route) ctx.state.route = route;
  const coding = encoded && ctx.acceptsEncodings(...Object.keys(encoded));
  ctx.set({ ...headers, ...(encoded && { Vary: 'Accept-Encoding' }), ...(etag && { ETag: etag }) });
  ctx.type = type;
  const copy = encoded?.[coding as keyof typeof encoded];
  if (copy) ctx.set('Content-Encoding', coding as string);
  ctx.body = copy ?? file;
  if (etag && ctx.fresh) ctx.status = 304;
}
