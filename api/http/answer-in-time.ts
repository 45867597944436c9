import { AppError } from '../../shared/base/errors.ts';
import type { Logger } from '../../shared/base/logger.ts';
import type { Middleware, RequestContext } from '../part.ts';
import { answerFailure } from './handle-errors.ts';

/**
 * Every request is answered within 3 s of its arrival, even if MongoDB hangs. Time in which the handler waits for the
 * body or for events does not count. Only tests on a slow machine have a longer limit.
 */
export const answerLimitMs = 2_900;

/**
 * The time limit of every request, in all parts: sends a 503 if the later middleware has not begun a response in time.
 * The whole 503 is sent in the timer's tick, so that Koa ignores every later write to the response. Nothing throws
 * inside the timer, because that would end the process.
 *
 * The late middleware still runs to its end. If it creates the ride, its rate-limit charge stays; otherwise the charge
 * is refunded.
 */
export const answerInTime =
  (log: Logger, limitMs = answerLimitMs): Middleware =>
  (ctx, next) =>
    new Promise<unknown>((resolve, reject) => {
      let timer: NodeJS.Timeout;
      const check = () => {
        const left = leftMs(ctx, limitMs);
        // The handler has waited, or is still waiting, so the deadline has moved.
        if (left > 0) timer = setTimeout(check, left);
        // A stream counts as answered once its headers are sent.
        else if (!ctx.headerSent) {
          try {
            refuse(ctx, log);
            resolve(undefined);
          } catch (error) {
            reject(error);
          }
        }
      };
      const handled = next();
      timer = setTimeout(check, leftMs(ctx, limitMs));
      handled.finally(() => clearTimeout(timer)).then(resolve, reject);
    });

/** Sends the 503 as Koa would, but in this tick. */
function refuse(ctx: RequestContext, log: Logger): void {
  ctx.state.isLate = true;
  answerFailure(ctx, new AppError('unconfirmed'), log);
  const { body } = ctx.response;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  ctx.response.length = Buffer.byteLength(text);
  ctx.res.end(text);
}

/** Call it before beginning a response that stays open. Throws the error of a 503 that was already sent. */
export function assertInTime({ state }: RequestContext): void {
  if (state.isLate) throw new AppError('unconfirmed');
}

const leftMs = ({ state }: RequestContext, limitMs: number): number =>
  Math.max(0, Math.ceil(state.startedAt + limitMs - (state.waitsSince ?? performance.now())));

/** Call it when the handler starts to wait. Until the returned function is called, no time counts against the limit. */
export function pauseTimeLimit({ state }: RequestContext): () => void {
  const since = performance.now();
  state.waitsSince = since;
  return () => {
    state.startedAt += performance.now() - since;
    state.waitsSince = undefined;
  };
}
