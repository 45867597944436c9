import bodyParser from 'koa-bodyparser';
import { AppError } from '../../shared/errors.ts';
import type { Middleware } from '../types.ts';

const limitBytes = 16_384;

const parse = bodyParser({
  enableTypes: ['json'],
  // Whether it is JSON has been seen before.
  detectJSON: () => true,
  jsonLimit: limitBytes as unknown as string,
  // An unknown field is ignored, and `__proto__` is one.
  ...({ onProtoPoisoning: 'remove' } as object),
  onerror(error) {
    const { status } = error as { status?: number };
    if (status === 413) throw new AppError('payload_too_large');
    throw new AppError('invalid_request', { message: 'The request body is not valid JSON' });
  },
}) as unknown as Middleware;

/** Reads a JSON object of at most 16,384 bytes into `ctx.request.body`, or throws a 400 or 413. */
export const jsonBody: Middleware = async (ctx, next) => {
  if (!ctx.is('json', '+json')) {
    const message =
      ctx.request.length === 0 || !ctx.get('content-type') ? missing : 'Content-Type must be application/json';
    throw new AppError('invalid_request', { message });
  }
  // An inflated body could break off after its refusal, in a stream that nobody listens to any more.
  if (!/^(identity)?$/i.test(ctx.get('content-encoding'))) {
    throw new AppError('invalid_request', { message: 'Content-Encoding is not supported' });
  }
  if (!/^(utf-?8)?$/i.test(ctx.request.charset)) {
    throw new AppError('invalid_request', { message: notUtf8 });
  }
  const askedAt = performance.now();
  await parse(ctx, async () => {
    ctx.state.startedAt += performance.now() - askedAt;
    if (!ctx.request.rawBody) throw new AppError('invalid_request', { message: missing });
    // Bytes that are no UTF-8 were read as this character; stored, they would be another text than was sent.
    if (String(ctx.request.rawBody).includes('\ufffd')) throw new AppError('invalid_request', { message: notUtf8 });
    if (Array.isArray(ctx.request.body)) {
      throw new AppError('invalid_request', { message: 'The request body must be a JSON object' });
    }
    await next();
  });
};

const notUtf8 = 'The request body must be UTF-8';
const missing = 'The request needs a JSON object as its body, sent as application/json';
