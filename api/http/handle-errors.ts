import { AppError, describeError } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import { isOutageOfMongo } from '../../shared/mongo/outage.ts';
import type { Middleware } from '../types.ts';

/** The one place where an error becomes HTTP: `{ "error": message }` and its status (contract, section 7). */
export function handleErrors(log: Logger): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const error = publicError(thrown);
      if (error.status >= 500) {
        log.error({ requestId: ctx.state.requestId, error: describeError(thrown) }, 'request failed');
      }
      // To the response itself: what is late may no longer write through the context.
      const { response } = ctx;
      response.status = error.status;
      response.set(error.headers);
      response.body = { error: error.message };
    }
  };
}

/** An error that is not ours is shown by its code alone: its own text may quote a value. */
function publicError(thrown: unknown): AppError {
  if (thrown instanceof AppError) {
    return thrown.status === 503 ? new AppError(thrown.code, { headers: { 'Retry-After': '1' } }) : thrown;
  }
  if (isOutageOfMongo(thrown)) return publicError(new AppError('unavailable'));
  return new AppError('internal');
}
