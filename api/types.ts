import type Koa from 'koa';
import type { Caller } from '../shared/keys/api-key.ts';

/** What the middleware of a request know of it beside what Koa does. */
export interface RequestState {
  requestId: string;
  /** When the request came, by `performance.now()`; later by the time that its body took. */
  startedAt: number;
  /** Since when the body is awaited, by `performance.now()`; undefined before and after. */
  bodyAskedAt?: number;
  /** The route for the log, where no router notes its pattern: a path may hold a secret token. */
  route?: string;
  caller?: Caller;
}

export type Middleware = Koa.Middleware<RequestState>;
export type RequestContext = Parameters<Middleware>[0];
