import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import bodyParser from 'koa-bodyparser';
import { AppError } from '../../shared/base/errors.ts';
import type { Middleware, RequestContext } from '../part.ts';
import { pauseTimeLimit } from './answer-in-time.ts';

const limitBytes = 16_384 as unknown as string;

const parseJson = bodyParser({
  enableTypes: ['json'],
  // Always true, because readJsonBody has already checked the Content-Type.
  detectJSON: () => true,
  jsonLimit: limitBytes,
  // Unknown fields are ignored, and `__proto__` is an unknown field.
  ...({ onProtoPoisoning: 'remove' } as object),
  onerror: failJson,
}) as unknown as Middleware;

const parseForm = bodyParser({
  enableTypes: ['form'],
  formLimit: limitBytes,
  onerror: (error) => fail(error),
}) as unknown as Middleware;

/** The parser also refuses valid JSON that is no object or list, such as the text of an object that was serialized twice. */
function failJson(error: Error & { status?: number; body?: string }): never {
  fail(error, isJson(error.body) ? notAnObject : 'The request body is not valid JSON');
}

function isJson(text = ''): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function fail(error: Error & { status?: number }, message?: string): never {
  if (error instanceof AppError) throw error;
  if (error.status === 413) throw new AppError('payload_too_large');
  throw new AppError('invalid_request', { message });
}

/** Reads the request's body, a JSON object of at most 16,384 bytes. Throws a 400, 408 or 413. */
export async function readJsonBody(ctx: RequestContext): Promise<unknown> {
  if (!ctx.is('json', '+json')) {
    refuse(ctx.request.length === 0 || !ctx.get('content-type') ? missing : 'Content-Type must be application/json');
  }
  // The body is not decompressed: a decompressing stream could fail after the request was refused, when nothing listens
  // to its errors.
  if (!isPlain(ctx)) refuse('Content-Encoding is not supported');
  if (!/^(utf-?8)?$/i.test(ctx.request.charset)) refuse(notUtf8);
  await read(ctx, parseJson);
  if (!ctx.request.rawBody) refuse(missing);
  if (Array.isArray(ctx.request.body)) refuse(notAnObject);
  return ctx.request.body;
}

/** The text of a body that was read; empty if none was. */
export const bodyText = (ctx: RequestContext): string => String(ctx.request.rawBody ?? '');

/** The fields of a submitted form, as text; a missing field is the empty string. */
export interface Form {
  text(name: string): string;
}

/** Reads the form in the request's body, of at most 16,384 bytes. Throws a 400, 408 or 413. */
export async function readForm(ctx: RequestContext): Promise<Form> {
  const fields = await readParameters(ctx);
  return { text: (name) => fields.get(name) ?? '' };
}

/** All parameters of such a form. */
export async function readParameters(ctx: RequestContext): Promise<URLSearchParams> {
  if (!ctx.is('application/x-www-form-urlencoded') || !isPlain(ctx)) throw new AppError('invalid_request');
  await read(ctx, parseForm);
  // Does not use the parser's own result, which turns `a[b]` into nested objects.
  return new URLSearchParams(ctx.request.rawBody ?? '');
}

const isPlain = (ctx: RequestContext): boolean => /^(identity)?$/i.test(ctx.get('content-encoding'));

/** Reads the body with a parser. The wait for the body does not count against the request's time limit. */
async function read(ctx: RequestContext, parse: Middleware): Promise<void> {
  // The parser accepts `identity` in lower case only.
  delete ctx.req.headers['content-encoding'];
  const error = brokenBodies.get(ctx.req);
  if (error) throw error;
  const chunks: Buffer[] = [];
  ctx.req.on('data', (chunk: Buffer) => chunks.push(chunk));
  const resumeTimeLimit = pauseTimeLimit(ctx);
  try {
    await parse(ctx, async () => {});
  } finally {
    resumeTimeLimit();
  }
  // Refuses invalid UTF-8. The parser would replace it, and the stored text would differ from the text that was sent.
  if (!isUtf8(Buffer.concat(chunks))) refuse(notUtf8);
}

const brokenBodies = new WeakMap<IncomingMessage, AppError>();

/**
 * Records that the rest of a request's body cannot be read, and makes a read in progress fail. The handler, which is
 * already running, still sends the response: it fails with this error if it needs the body, and otherwise continues.
 */
export function breakBody(request: IncomingMessage, error: AppError): void {
  brokenBodies.set(request, error);
  if (request.listenerCount('error') > 0) request.emit('error', error);
}

function refuse(message: string): never {
  throw new AppError('invalid_request', { message });
}

const missing = 'The request needs a JSON object as its body, sent as application/json';
const notAnObject = 'The request body must be a JSON object';
const notUtf8 = 'The request body must be UTF-8';
