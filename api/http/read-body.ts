import { isUtf8 } from 'node:buffer';
import { AppError } from '../../shared/base/errors.ts';
import type { Middleware, RequestContext } from '../types.ts';
import { pauseTimeLimit } from './answer-in-time.ts';
import { brokenBody } from './broken-body.ts';

/** Every body is at most this large. */
export const bodyLimitBytes = 16_384;

/**
 * Lets a parser read the request's body. The time that the body takes to arrive does not count against the answer's
 * time limit. Throws a 400, 408 or 413.
 */
export async function readBody(ctx: RequestContext, parse: Middleware): Promise<void> {
  const error = brokenBody(ctx.req);
  if (error) throw error;
  const chunks: Buffer[] = [];
  ctx.req.on('data', (chunk: Buffer) => chunks.push(chunk));
  const goOn = pauseTimeLimit(ctx);
  try {
    await parse(ctx, async () => {});
  } finally {
    goOn();
  }
  // The parser replaces invalid UTF-8, so a text other than the one that was sent would be stored.
  if (!isUtf8(Buffer.concat(chunks))) throw notUtf8();
}

export const notUtf8 = () => new AppError('invalid_request', { message: 'The request body must be UTF-8' });
