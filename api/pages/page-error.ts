import type { AppError } from '../../shared/errors.ts';
import type { RequestContext } from '../types.ts';
import { errorPage } from './error-page.tsx';

/** The page of an error. Sets the content type, since a page is text to Koa as well. */
export function pageError(error: AppError, ctx: RequestContext): string {
  ctx.response.type = 'html';
  return errorPage(error.status, { requestId: ctx.state.requestId });
}
