import Router from '@koa/router';
import type { Middleware, RequestContext, RequestState, RouteName } from '../part.ts';
import type { Method, Operation } from './operation.ts';

export interface Route {
  /** Its method, path and documentation. */
  operation: Operation;
  handle: Middleware;
}

/** A route of pages. The documentation lists only routes for programs. */
export interface PageRoute {
  method: Method;
  path: string;
  handle: Middleware;
}

interface GetSteps<Found> {
  /** Admits the caller, or throws a 401. May read what is asked for in the same round trip. */
  authenticate(ctx: RequestContext): Promise<Found>;
  present(found: Found): object;
}

/** The steps of a change after its validation. */
export interface ChangeSteps<Input, Result> {
  /** The result of an earlier identical request: then neither `limit` nor `act` runs. */
  replay?(input: Input): Promise<Result | null>;
  /** Runs `act` if the caller's limit permits it, or throws a 429. */
  limit?(ctx: RequestContext, input: Input, act: (input: Input) => Promise<Result>): Promise<Result>;
  act(input: Input): Promise<Result>;
}

interface ChangingSteps<Caller, Input, Result> extends ChangeSteps<Input, Result> {
  authenticate(ctx: RequestContext): Promise<Caller>;
  /** The validated input of `act`. Throws a 400. */
  validate(ctx: RequestContext, caller: Caller): Input | Promise<Input>;
  /** The body of the answer; null for none. */
  present(result: Result): object | null;
}

/** A route that reads. */
export function get<Found>(operation: Operation<'GET'>, { authenticate, present }: GetSteps<Found>): Route {
  return {
    operation,
    handle: async (ctx) => {
      ctx.body = present(await authenticate(ctx));
    },
  };
}

/** Makes a change: its steps run in the order in which ChangeSteps lists them. */
export async function makeChange<Input, Result>(
  ctx: RequestContext,
  input: Input,
  { replay, limit, act }: ChangeSteps<Input, Result>,
): Promise<Result> {
  const replayed = replay && (await replay(input));
  return replayed ?? (limit ? limit(ctx, input, act) : act(input));
}

/** A route of steps: it authenticates, validates, acts and presents the result. */
function inSteps<Caller, Input, Result>(operation: Operation, steps: ChangingSteps<Caller, Input, Result>): Route {
  const { authenticate, validate, present } = steps;
  return {
    operation,
    handle: async (ctx) => {
      const caller = await authenticate(ctx);
      const input = await validate(ctx, caller);
      const result = await makeChange(ctx, input, steps);
      ctx.status = operation.answer.status;
      ctx.body = present(result);
    },
  };
}

type RouteInSteps<M extends Method> = <Caller, Input, Result>(
  operation: Operation<M>,
  steps: ChangingSteps<Caller, Input, Result>,
) => Route;

/** Reads what a query asks for. */
export const list: RouteInSteps<'GET'> = inSteps;
export const post: RouteInSteps<'POST'> = inSteps;
export const put: RouteInSteps<'PUT'> = inSteps;
/** `delete` is a word of the language. */
export const remove: RouteInSteps<'DELETE'> = inSteps;

/** Whether a path is the base of a part, or below it. */
export const isBelow =
  (base: string) =>
  (path: string): boolean =>
    path === base || path.startsWith(`${base}/`);

/** The routes below a base. */
export function routerOf(base: string, routes: readonly (Route | PageRoute)[]): Middleware {
  const router = new Router<RequestState>({ prefix: base });
  for (const route of routes) {
    const { method, path } = nameOf(route);
    router.register(path, [method], route.handle);
  }
  return router.routes() as Middleware;
}

/** The names of the routes below a base. */
export const namesOf = (base: string, routes: readonly (Route | RouteName)[]): RouteName[] =>
  routes.map((route) => {
    const { method, path } = nameOf(route);
    return { method, path: base + path };
  });

const nameOf = <Name extends RouteName>(route: Route | Name) => ('operation' in route ? route.operation : route);

/** A part of the path that the route's pattern names. */
export const paramOf = (ctx: RequestContext, name: string): string =>
  (ctx as unknown as { params: Record<string, string> }).params[name] ?? '';

export const rideIdOf = (ctx: RequestContext): string => paramOf(ctx, 'rideId');
