import bodyParser from 'koa-bodyparser';
import { AppError } from '../../shared/base/errors.ts';
import type { Middleware, RequestContext } from '../types.ts';
import { bodyLimitBytes, readBody } from './read-body.ts';

const parse = bodyParser({
  enableTypes: ['form'],
  formLimit: bodyLimitBytes as unknown as string,
  onerror(error) {
    if (error instanceof AppError) throw error;
    const { status } = error as { status?: number };
    throw new AppError(status === 413 ? 'payload_too_large' : 'invalid_request');
  },
}) as unknown as Middleware;

/** The fields of a form that a page sent, each the text that was typed; a field that is missing is empty. */
export interface Form {
  text(name: string): string;
}

/** Reads the form in the request's body, of at most 16,384 bytes. Throws a 400, 408 or 413. */
export async function readForm(ctx: RequestContext): Promise<Form> {
  if (!ctx.is('application/x-www-form-urlencoded') || !/^(identity)?$/i.test(ctx.get('content-encoding'))) {
    throw new AppError('invalid_request');
  }
  delete ctx.req.headers['content-encoding'];
  await readBody(ctx, parse);
  // Not the parser's own object: it turns `a[b]` into nested ones.
  const fields = new URLSearchParams(ctx.request.rawBody ?? '');
  return { text: (name) => fields.get(name) ?? '' };
}
