import Router from '@koa/router';
import { AppError } from '../../shared/errors.ts';
import { pingMongo } from '../../shared/mongo.ts';
import type { RequestState } from '../types.ts';

/** For load balancers, without a key. Ready means that MongoDB answers: nothing else is needed to take a ride. */
export function healthRoutes(): Router<RequestState> {
  const router = new Router<RequestState>();
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/readyz', async (ctx) => {
    await pingMongo().catch(() => {
      throw new AppError('unavailable');
    });
    ctx.body = { status: 'ready' };
  });
  return router;
}
