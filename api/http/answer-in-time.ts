import { AppError } from '../../shared/errors.ts';
import type { Middleware, RequestContext } from '../types.ts';

/** Every request is answered within 3 s of its arrival, whatever MongoDB does. The time that the handler waits does not count. */
const limitMs = 2_900;

/**
 * Answers 503 when the middleware behind it, authentication included, has not answered in time. That middleware still runs
 * to its end: if it creates the ride after all, the rate limit's charge stays, otherwise the charge is refunded.
 */
export const answerInTime: Middleware = (ctx, next) =>
  new Promise((resolve, reject) => {
    const check = () => {
      const left = leftMs(ctx);
      // The limit has moved: the handler has waited meanwhile, or still waits.
      if (left > 0) timer = setTimeout(check, left);
      else {
        ignoreLateAnswer(ctx);
        reject(new AppError('unconfirmed'));
      }
    };
    let timer = setTimeout(check, leftMs(ctx));
    next()
      .finally(() => clearTimeout(timer))
      .then(resolve, reject);
  });

const leftMs = ({ state }: RequestContext): number =>
  Math.max(0, Math.ceil(state.startedAt + limitMs - (state.waitsSince ?? performance.now())));

/** From now until the returned function is called, no time counts against the limit: the handler waits for something. */
export function pauseTimeLimit({ state }: RequestContext): () => void {
  const since = performance.now();
  state.waitsSince = since;
  return () => {
    state.startedAt += performance.now() - since;
    state.waitsSince = undefined;
  };
}

/** The late middleware still writes its answer to the context, perhaps while the 503 is being sent: those writes do nothing. */
function ignoreLateAnswer(ctx: RequestContext): void {
  const { response } = ctx;
  Object.defineProperties(ctx, {
    status: { get: () => response.status, set() {} },
    body: { get: () => response.body, set() {} },
    set: { value() {} },
  });
}
