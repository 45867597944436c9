import type Koa from 'koa';
import type { Caller } from '../shared/keys/api-key.ts';
import type { Part } from './part.ts';

/** What middleware shares about a request, beyond Koa's own fields. */
export interface RequestState {
  requestId: string;
  /** The part that owns the request's path. */
  part: Part;
  /** When the request arrived, by `performance.now()`, moved forward by the time that the handler has waited. */
  startedAt: number;
  /** Since when the handler waits, for the body or for events, by `performance.now()`; undefined while it does not. */
  waitsSince?: number;
  /** The time limit has passed, and the 503 is sent: nothing else can answer the request. */
  isLate?: true;
  /** The route for the log where no router notes its pattern. Never a path: it may hold a secret token. */
  route?: string;
  /** The partner's key that the request was made with. */
  caller?: Caller;
  /** Doubts about a request that is valid, by their codes (partner/warnings.ts). */
  warnings?: Set<string>;
  /** The driver that the request was made by, and the hash of the key. */
  driver?: { driverId: string; keyHash: string };
}

export type Middleware = Koa.Middleware<RequestState>;
export type RequestContext = Parameters<Middleware>[0];
