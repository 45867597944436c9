import { AppError } from '../../shared/base/errors.ts';
import type { Logger } from '../../shared/base/logger.ts';
import type { Middleware, RequestContext } from '../part.ts';
import { answerFailure } from './handle-errors.ts';

/** Every request is answered within 3 s of its arrival, whatever MongoDB does. Time that the handler waits does not count. */
const limitMs = 2_900;

/**
 * The one time limit of a request, for every part: sends a 503 when the steps after it have not begun an answer in time. The
 * whole 503 is sent in the tick of the timer, because Koa ignores every later write to a sent response. The late steps still
 * run to their end: if they create the ride after all, the rate limit's charge stays, otherwise the charge is refunded.
 * Nothing throws inside the timer, because that would end the process.
 */
export const answerInTime =
  (log: Logger): Middleware =>
  (ctx, next) =>
    new Promise<unknown>((resolve, reject) => {
      let timer: NodeJS.Timeout;
      const check = () => {
        const left = leftMs(ctx);
        // The limit has moved: the handler has waited since, or still waits.
        if (left > 0) timer = setTimeout(check, left);
        // A stream is answered when it begins.
        else if (!ctx.headerSent) refuse(ctx, log, resolve, reject);
      };
      const handled = next();
      timer = setTimeout(check, leftMs(ctx));
      handled.finally(() => clearTimeout(timer)).then(resolve, reject);
    });

function refuse(
  ctx: RequestContext,
  log: Logger,
  resolve: (_: undefined) => void,
  reject: (error: unknown) => void,
): void {
  try {
    ctx.state.isLate = true;
    answerFailure(ctx, new AppError('unconfirmed'), log);
    sendNow(ctx);
    resolve(undefined);
  } catch (error) {
    reject(error);
  }
}

/** Sends the answer as Koa would, but in this tick. */
function sendNow({ response, res }: RequestContext): void {
  const { body } = response;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.length = Buffer.byteLength(text);
  res.end(text);
}

/** A response that stays open cannot begin for a request that was answered late. Throws the error of the 503 that was sent. */
export function assertInTime({ state }: RequestContext): void {
  if (state.isLate) throw new AppError('unconfirmed');
}

const leftMs = ({ state }: RequestContext): number =>
  Math.max(0, Math.ceil(state.startedAt + limitMs - (state.waitsSince ?? performance.now())));

/** The handler waits: until the returned function is called, no time counts against the limit. */
export function pauseTimeLimit({ state }: RequestContext): () => void {
  const since = performance.now();
  state.waitsSince = since;
  return () => {
    state.startedAt += performance.now() - since;
    state.waitsSince = undefined;
  };
}
