import type { Context } from '../../shared/context.ts';
import { AppError } from '../../shared/errors.ts';
import { type Caller, findCaller } from '../../shared/keys/api-key.ts';
import type { Middleware, RequestContext } from '../types.ts';

/** Finds whose key a request carries (contract, section 5), or throws a 401. */
export function authenticate(service: Context): Middleware {
  return async (ctx, next) => {
    const secretKey = givenKey(ctx);
    const caller = secretKey && (await findCaller(secretKey, service.now()));
    if (!caller) throw new AppError('unauthorized', { headers: { 'WWW-Authenticate': 'Bearer' } });
    ctx.state.caller = caller;
    await next();
  };
}

/** A Bearer token alone counts where there is one; another scheme leaves the word to X-Api-Key. */
function givenKey(ctx: RequestContext): string {
  const bearer = /^Bearer(?:\s+(.*))?$/i.exec(ctx.get('authorization').trim());
  return bearer ? (bearer[1] ?? '').trim() : ctx.get('x-api-key').trim();
}

/** The caller that authenticate has found. */
export function callerOf(ctx: { state: { caller?: Caller } }): Caller {
  if (!ctx.state.caller) throw new AppError('unauthorized');
  return ctx.state.caller;
}
