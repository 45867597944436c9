import type { AppError } from '../../shared/base/errors.ts';
import type { RequestContext } from '../types.ts';
import { errorPage, messageOf } from './error-page.tsx';

/** The page of an error. Sets the content type, since a page is text to Koa as well. */
export function pageError(error: AppError, ctx: RequestContext): string {
  ctx.response.type = 'html';
  const message = messageOf(error.status);
  // The text of a 429 names the limit that was reached.
  if (error.status === 429) message.text = `${error.message}.`;
  return errorPage(error.status, { requestId: ctx.state.requestId, message });
}
