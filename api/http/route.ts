import Router from '@koa/router';
import compose from 'koa-compose';
import type { Operation } from '../../shared/base/operation.ts';
import type { Middleware, Part, RequestContext, RequestState, RouteName } from '../part.ts';

export interface Route extends RouteName {
  handle: Middleware;
}

interface GetSteps<Resource> {
  /** Returns the caller or, read in the same round trip to MongoDB, the requested resource. Throws a 401 or 404. */
  authenticate(ctx: RequestContext): Promise<Resource>;
  present(resource: Resource): object;
}

interface Steps<Caller, Input, Result> {
  authenticate(ctx: RequestContext): Promise<Caller>;
  /** Returns the validated input of `act`. Throws a 400. */
  validate(ctx: RequestContext, caller: Caller): Input | Promise<Input>;
  act(input: Input, ctx: RequestContext): Promise<Result>;
  /** The body of the response. Absent for a 204. */
  present?(result: Result): object;
  /** Further headers of the response. */
  headers?(result: Result): Record<string, string>;
}

/** The handler of a route that reads, and needs no validation. */
export const get =
  <Resource>({ authenticate, present }: GetSteps<Resource>): Middleware =>
  async (ctx) => {
    ctx.body = present(await authenticate(ctx));
  };

/** The handler of a route that authenticates, validates, acts and presents the result. */
export function inSteps<Caller, Input, Result>(
  { answer }: Pick<Operation, 'answer'>,
  { authenticate, validate, act, present, headers }: Steps<Caller, Input, Result>,
): Middleware {
  return async (ctx) => {
    const caller = await authenticate(ctx);
    const input = await validate(ctx, caller);
    const result = await act(input, ctx);
    ctx.status = answer.status;
    if (headers) ctx.set(headers(result));
    ctx.body = present ? present(result) : null;
  };
}

/** True if a path is the base, or below it. */
export const isBelow =
  (base: string) =>
  (path: string): boolean =>
    path === base || path.startsWith(`${base}/`);

/** The routes of a part below a base. `before` runs first, `after` for a request that no route answers. */
export function routesBelow(
  base: string,
  routes: readonly Route[],
  { before = [], after = [] }: { before?: Middleware[]; after?: Middleware[] } = {},
): Pick<Part, 'owns' | 'routes' | 'handle'> {
  const router = new Router<RequestState>({ prefix: base });
  for (const { method, path, handle } of routes) router.register(path, [method], handle);
  return {
    owns: isBelow(base),
    routes: () => routes.map(({ method, path }) => ({ method, path: base + path })),
    handle: compose<RequestContext>([...before, router.routes() as Middleware, ...after]),
  };
}

/** The value of a parameter in the route's path. */
export const paramOf = (ctx: RequestContext, name: string): string =>
  (ctx as unknown as { params: Record<string, string> }).params[name] ?? '';

export const rideIdOf = (ctx: RequestContext): string => paramOf(ctx, 'rideId');
