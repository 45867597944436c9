import type { Context } from '../../shared/base/context.ts';
import { pingMongo } from '../../shared/base/mongo/connect-mongo.ts';
import { healthListener, healthPaths } from '../../shared/process/ops/health.ts';
import { jsonError } from '../http/handle-errors.ts';
import { dataHeaders } from '../http/security-headers.ts';
import type { Part } from '../part.ts';

/** Health checks for load balancers. The API is ready when MongoDB answers, because a creation needs nothing else. */
export function healthPart({ log }: Pick<Context, 'log'>): Part {
  const listener = healthListener({ mongo: pingMongo }, log);
  return {
    name: 'health',
    owns: (path) => healthPaths.includes(path),
    headers: dataHeaders,
    routes: () => healthPaths.map((path) => ({ method: 'GET', path })),
    async handle(ctx) {
      ctx.respond = false;
      ctx.state.route = ctx.path;
      await listener(ctx.req, ctx.res);
    },
    renderError: jsonError,
  };
}
