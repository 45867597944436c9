import type Koa from 'koa';
import type { AppError } from '../shared/base/errors.ts';
import type { Caller } from '../shared/keys/api-key.ts';

/** A part of the HTTP service, e.g. the partner API: it owns paths and defines how they are answered. */
export interface Part {
  /** For the log. */
  name: string;
  /** Whether the path belongs to this part. The first part that owns a path handles it. */
  owns(path: string): boolean;
  /** Sent with every answer of this part, errors included. */
  headers: ReadonlyMap<string, string>;
  /** Every route, so that a test can send a request to each: a new one is tested without a line there. */
  routes(): RouteName[];
  /** Answers a request, or calls `next` where it has no such route: a 404, or a 405 if a router knows the path. */
  handle: Middleware;
  /** The body of an error's answer, built from `error.message`, which is public. Status and headers are set by the caller. */
  renderError(error: AppError, ctx: RequestContext): string | object;
  /** Ends the responses that the part holds open, and from then on each new one at once. The first step of a stop. */
  endHeld?(): void;
  /** Frees what the part itself has opened. The last step of a stop, after all connections are closed. */
  close?(): Promise<void>;
}

/** The method of a route and the pattern of its whole path, e.g. `/v1/rides/:rideId`. */
export interface RouteName {
  method: string;
  path: string;
}

export type Middleware = Koa.Middleware<RequestState>;
export type RequestContext = Parameters<Middleware>[0];

/** State of a request that middleware shares, beyond Koa's own fields. */
export interface RequestState {
  requestId: string;
  /** The part that owns the request's path. */
  part: Part;
  /** When the request arrived, by `performance.now()`, moved forward by the time that the handler has waited. */
  startedAt: number;
  /** Set while the handler waits for the body or for events, by `performance.now()`: excluded from the time limit. */
  waitsSince?: number;
  /** The time limit has passed, and the 503 is sent: nothing else can answer the request. */
  isLate?: true;
  /** The route for the log where no router notes its pattern. Never a path: it may hold a secret token. */
  route?: string;
  /** The partner's key that the request was made with. */
  caller?: Caller;
  /** Codes of doubts about a valid request (partner/warnings.ts). */
  warnings?: Set<string>;
  /** The driver that the request was made by, and the hash of the key. */
  driver?: { driverId: string; keyHash: string };
}
