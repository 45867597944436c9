import type { Caller } from '../../shared/keys/api-key.ts';
import type { Middleware, RequestContext } from '../types.ts';

export interface Route {
  method: 'GET' | 'POST';
  path: string;
  handle: Middleware;
}

interface GetSteps<Found> {
  /** Admits the caller, or throws a 401. May read what is asked for in the same round trip. */
  authenticate(ctx: RequestContext): Promise<Found>;
  present(found: Found): object;
}

interface PostSteps<Input, Result> {
  authenticate(ctx: RequestContext): Promise<Caller>;
  /** The validated input of `act`. Throws a 400. */
  validate(ctx: RequestContext, caller: Caller): Input | Promise<Input>;
  /** The result of an earlier identical request: then neither `limit` nor `act` runs. */
  replay?(input: Input): Promise<Result | null>;
  /** Runs `act` if the caller's limit permits it, or throws a 429. */
  limit?(ctx: RequestContext, input: Input, act: (input: Input) => Promise<Result>): Promise<Result>;
  act(input: Input): Promise<Result>;
  present(result: Result): object;
  status?: number;
}

/** A route that reads. */
export function get<Found>(path: string, { authenticate, present }: GetSteps<Found>): Route {
  return {
    method: 'GET',
    path,
    handle: async (ctx) => {
      ctx.body = present(await authenticate(ctx));
    },
  };
}

/** A route that changes something. Its steps run in the order in which PostSteps lists them. */
export function post<Input, Result>(path: string, steps: PostSteps<Input, Result>): Route {
  const { authenticate, validate, replay, limit, act, present, status = 200 } = steps;
  return {
    method: 'POST',
    path,
    handle: async (ctx) => {
      const caller = await authenticate(ctx);
      const input = await validate(ctx, caller);
      const replayed = replay && (await replay(input));
      const result = replayed ?? (limit ? await limit(ctx, input, act) : await act(input));
      ctx.status = status;
      ctx.body = present(result);
    },
  };
}
