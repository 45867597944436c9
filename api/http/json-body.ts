import { parse } from '@hapi/bourne';
import rawBody from 'raw-body';
import { AppError } from '../../shared/errors.ts';
import type { Middleware, RequestContext } from '../types.ts';
import { brokenBody } from './broken-body.ts';

declare module 'koa' {
  interface Request {
    body?: unknown;
  }
}

const limitBytes = 16_384;

/** Throws at bytes that are not UTF-8: replaced, they would be stored as another text than was sent. Drops a byte order mark. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a JSON object of at most 16,384 bytes into `ctx.request.body`, or throws a 400, 408 or 413. */
export const jsonBody: Middleware = async (ctx, next) => {
  if (!ctx.is('json', '+json')) {
    refuse(ctx.request.length === 0 || !ctx.get('content-type') ? missing : 'Content-Type must be application/json');
  }
  if (!/^(identity)?$/i.test(ctx.get('content-encoding'))) refuse('Content-Encoding is not supported');
  if (!/^(utf-?8)?$/i.test(ctx.request.charset)) refuse(notUtf8);
  const text = decode(await readBody(ctx));
  if (text === '') refuse(missing);
  const body = parseJson(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    refuse('The request body must be a JSON object');
  }
  ctx.request.body = body;
  await next();
};

/** The time that the body takes is the client's: it does not count against the time limit of the answer. */
async function readBody(ctx: RequestContext): Promise<Buffer> {
  const error = brokenBody(ctx.req);
  if (error) throw error;
  const askedAt = performance.now();
  ctx.state.bodyAskedAt = askedAt;
  try {
    return await rawBody(ctx.req, { limit: limitBytes, length: ctx.req.headers['content-length'] });
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError((error as rawBody.RawBodyError).status === 413 ? 'payload_too_large' : 'invalid_request');
  } finally {
    ctx.state.startedAt += performance.now() - askedAt;
    ctx.state.bodyAskedAt = undefined;
  }
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return refuse(notUtf8);
  }
}

function parseJson(text: string): unknown {
  try {
    // An unknown field is ignored, and `__proto__` is one.
    return parse(text, { protoAction: 'remove' });
  } catch {
    return refuse('The request body is not valid JSON');
  }
}

function refuse(message: string): never {
  throw new AppError('invalid_request', { message });
}

const notUtf8 = 'The request body must be UTF-8';
const missing = 'The request needs a JSON object as its body, sent as application/json';
