import { isUtf8 } from 'node:buffer';
import bodyParser from 'koa-bodyparser';
import { AppError } from '../../shared/errors.ts';
import type { Middleware, RequestContext } from '../types.ts';
import { brokenBody } from './broken-body.ts';

const limitBytes = 16_384;

const parse = bodyParser({
  enableTypes: ['json'],
  // readJsonBody has checked the Content-Type.
  detectJSON: () => true,
  jsonLimit: limitBytes as unknown as string,
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
  if (!/^(utf-?8)?$/i.test(ctx.request.charset)) refuse(notUtf8);
  // The parser accepts `identity` in lower case only.
  delete ctx.req.headers['content-encoding'];
  await readBody(ctx);
  if (!ctx.request.rawBody) refuse(missing);
  if (Array.isArray(ctx.request.body)) refuse('The request body must be a JSON object');
  return ctx.request.body;
}

/** Moves `startedAt` by the time the body takes to arrive, so that it does not count against the answer's time limit. */
async function readBody(ctx: RequestContext): Promise<void> {
  const error = brokenBody(ctx.req);
  if (error) throw error;
  const chunks: Buffer[] = [];
  ctx.req.on('data', (chunk: Buffer) => chunks.push(chunk));
  const askedAt = performance.now();
  ctx.state.bodyAskedAt = askedAt;
  try {
    await parse(ctx, async () => {});
  } finally {
    ctx.state.startedAt += performance.now() - askedAt;
    ctx.state.bodyAskedAt = undefined;
  }
  // The parser replaces invalid UTF-8, so a text other than the one that was sent would be stored.
  if (!isUtf8(Buffer.concat(chunks))) refuse(notUtf8);
}

function refuse(message: string): never {
  throw new AppError('invalid_request', { message });
}

const notUtf8 = 'The request body must be UTF-8';
const missing = 'The request needs a JSON object as its body, sent as application/json';
