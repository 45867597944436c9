import { AppError } from '../../shared/errors.ts';
import type { Middleware } from '../types.ts';

/** A request is answered within 3 s of its arrival, whatever MongoDB does; the time its body took is the client's. */
const limitMs = 2_900;

/**
 * Answers 503 where what follows has not answered in time. It goes on all the same, and comes to its own end: a ride that is
 * made later keeps its charge, and one that is not has it taken back.
 */
export const answerInTime: Middleware = (ctx, next) =>
  new Promise((resolve, reject) => {
    const leftMs = ctx.state.startedAt + limitMs - performance.now();
    const timer = setTimeout(() => reject(new AppError('unconfirmed')), Math.max(0, leftMs));
    next()
      .finally(() => clearTimeout(timer))
      .then(resolve, reject);
  });
