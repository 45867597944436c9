import { AppError } from '../../shared/errors.ts';
import type { Middleware, RequestContext } from '../types.ts';

/** A request is answered within 3 s of its arrival, whatever MongoDB does; the time its body took is the client's. */
const limitMs = 2_900;

/**
 * Answers 503 where what follows, authentication included, has not answered in time. It goes on all the same, and comes to
 * its own end: a ride that is made later keeps its charge, and one that is not has it taken back.
 */
export const answerInTime: Middleware = (ctx, next) =>
  new Promise((resolve, reject) => {
    const look = () => {
      const left = leftMs(ctx);
      // The body came in between, or is still on its way.
      if (left > 0) timer = setTimeout(look, left);
      else {
        ignoreLateAnswer(ctx);
        reject(new AppError('unconfirmed'));
      }
    };
    let timer = setTimeout(look, leftMs(ctx));
    next()
      .finally(() => clearTimeout(timer))
      .then(resolve, reject);
  });

const leftMs = ({ state }: RequestContext): number =>
  Math.max(0, Math.ceil(state.startedAt + limitMs - (state.bodyAskedAt ?? performance.now())));

/** What follows still writes its answer to the context, perhaps while the 503 is being sent. */
function ignoreLateAnswer(ctx: RequestContext): void {
  const { response } = ctx;
  Object.defineProperties(ctx, {
    status: { get: () => response.status, set() {} },
    body: { get: () => response.body, set() {} },
    set: { value() {} },
  });
}
