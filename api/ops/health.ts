import Router from '@koa/router';
import { AppError } from '../../shared/errors.ts';
import { pingMongo } from '../../shared/mongo/connection.ts';
import type { RequestState } from '../types.ts';

const pingIntervalMs = 1_000;

/** For load balancers, without a key. Ready means that MongoDB answers: nothing else is needed to take a ride. */
export function healthRoutes(): Router<RequestState> {
  const router = new Router<RequestState>();
  const ready = mongoAnswers();
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/readyz', async (ctx) => {
    if (!(await ready())) throw new AppError('unavailable');
    ctx.body = { status: 'ready' };
  });
  return router;
}

/** Whether MongoDB answers. It is asked at most once a second, and not while an answer is awaited: the requests share it. */
function mongoAnswers(): () => Promise<boolean> {
  let last: Promise<boolean> | undefined;
  let askAgainAt = 0;
  return () => {
    if (!last || performance.now() >= askAgainAt) {
      const askedAt = performance.now();
      askAgainAt = Number.POSITIVE_INFINITY;
      last = pingMongo()
        .then(
          () => true,
          () => false,
        )
        .finally(() => {
          askAgainAt = askedAt + pingIntervalMs;
        });
    }
    return last;
  };
}
