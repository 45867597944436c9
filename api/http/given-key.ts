import { AppError } from '../../shared/base/errors.ts';
import type { RequestContext } from '../types.ts';

/** With the scheme Bearer, Authorization alone counts, even if its token is empty; otherwise X-Api-Key does. */
export function givenKey(ctx: RequestContext): string {
  const bearer = /^Bearer(?:\s+(.*))?$/i.exec(ctx.get('authorization').trim());
  return bearer ? (bearer[1] ?? '').trim() : ctx.get('x-api-key').trim();
}

/** The 401 of a request without a valid key. */
export const unauthorized = () => new AppError('unauthorized', { headers: { 'WWW-Authenticate': 'Bearer' } });
