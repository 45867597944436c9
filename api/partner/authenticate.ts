import type { Context } from '../../shared/context.ts';
import { AppError } from '../../shared/errors.ts';
import { type Caller, findCaller } from '../../shared/keys/api-key.ts';
import type { Middleware, RequestContext } from '../types.ts';

/** Finds whose key a request carries (contract, section 5), or throws a 401. */
export function authenticate(service: Context): Middleware {
  return async (ctx, next) => {
    const secretKey = givenKey(ctx);
    admit(ctx, secretKey ? await findCaller(secretKey, service.now()) : null);
    await next();
  };
}

/** Lets the caller in that was found for the request's key, or throws a 401. */
export function admit(ctx: RequestContext, caller: Caller | null | undefined): void {
  if (!caller) throw new AppError('unauthorized', { headers: { 'WWW-Authenticate': 'Bearer' } });
  ctx.state.caller = caller;
}

/** A Bearer token alone counts where there is one; another scheme leaves the word to X-Api-Key. */
export function givenKey(ctx: RequestContext): string {
  const bearer = /^Bearer(?:\s+(.*))?$/i.exec(ctx.get('authorization').trim());
  return bearer ? (bearer[1] ?? '').trim() : ctx.get('x-api-key').trim();
}

/** The caller that authenticate has found. */
export function callerOf(ctx: { state: { caller?: Caller } }): Caller {
  if (!ctx.state.caller) throw new AppError('unauthorized');
  return ctx.state.caller;
}
