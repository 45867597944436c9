import bodyParser from 'koa-bodyparser';
import { AppError } from '../../shared/base/errors.ts';
import type { Middleware, RequestContext } from '../types.ts';
import { bodyLimitBytes, notUtf8, readBody } from './read-body.ts';

const parse = bodyParser({
  enableTypes: ['json'],
  // readJsonBody has checked the Content-Type.
  detectJSON: () => true,
  jsonLimit: bodyLimitBytes as unknown as string,
  // An unknown field is ignored, and `__proto__` is one.
  ...({ onProtoPoisoning: 'remove' } as object),
  onerror(error) {
    if (error instanceof AppError) throw error;
    const { status } = error as { status?: number };
    if (status === 413) throw new AppError('payload_too_large');
    throw new AppError('invalid_request', { message: 'The request body is not valid JSON' });
  },
}) as unknown as Middleware;

/** Reads the request's body, a JSON object of at most 16,384 bytes. Throws a 400, 408 or 413. */
export async function readJsonBody(ctx: RequestContext): Promise<unknown> {
  if (!ctx.is('json', '+json')) {
    refuse(ctx.request.length === 0 || !ctx.get('content-type') ? missing : 'Content-Type must be application/json');
  }
  // Not supported: a decompressing stream could fail after the request was refused, and nothing would listen to its error.
  if (!/^(identity)?$/i.test(ctx.get('content-encoding'))) refuse('Content-Encoding is not supported');
  if (!/^(utf-?8)?$/i.test(ctx.request.charset)) throw notUtf8();
  // The parser accepts `identity` in lower case only.
  delete ctx.req.headers['content-encoding'];
  await readBody(ctx, parse);
  if (!ctx.request.rawBody) refuse(missing);
  if (Array.isArray(ctx.request.body)) refuse('The request body must be a JSON object');
  return ctx.request.body;
}

function refuse(message: string): never {
  throw new AppError('invalid_request', { message });
}

const missing = 'The request needs a JSON object as its body, sent as application/json';
