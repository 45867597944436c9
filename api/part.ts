import type Koa from 'koa';
import type { AppError } from '../shared/base/errors.ts';
import type { Caller } from '../shared/keys/find-caller.ts';

/** A part of the HTTP service, e.g. the partner API: it owns paths and defines how they are answered. */
export interface Part {
  /** The name of the part in the log. */
  name: string;
  /** True if the path belongs to this part. The first part that owns a path handles it. */
  owns(path: string): boolean;
  /** The part handles only requests that prefer HTML to JSON. */
  onlyForPages?: true;
  /** The headers of every answer of this part, including errors. */
  headers: ReadonlyMap<string, string>;
  /** Every route. A test sends a request to each of them, so that new routes are tested automatically. */
  routes(): RouteName[];
  /** Answers a request, or calls `next` if the part has no such route: `refuseUnknownRoute` answers 404 or 405. */
  handle: Middleware;
  /** The body of an error response, built from `error.message`, which is public. The caller sets status and headers. */
  renderError(error: AppError, ctx: RequestContext): string | object;
  /** The path of the part's page that lists the service's mails. Only a development stack has one. */
  mailPage?: string;
  /** Ends the responses that the part holds open; later ones end immediately. The first step of a shutdown. */
  endHeld?(): void;
  /** Closes the resources that the part has opened. The last step of a shutdown, after all connections are closed. */
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
  /** When the request arrived (`performance.now()`), plus the time that the handler waited on purpose: a long poll is not slow. */
  startedAt: number;
  /** When the handler began to wait for the body or for events, by `performance.now()`. Set only while it waits. */
  waitsSince?: number;
  /** Set if the time limit has passed and the 503 is sent: no later step can answer the request. */
  isLate?: true;
  /** Set if a test scenario refuses the request. Such a refusal is no fault: no metric or log line counts it as one. */
  isSimulated?: true;
  /** The route to log if no router has matched. Never a path: it may contain a secret token. */
  route?: string;
  /** The partner's key that authenticated the request. */
  caller?: Caller;
  /** Codes of the warnings about a valid request (partner/warnings.ts). */
  warnings?: Set<string>;
  /** The driver who made the request, and the hash of the driver's key. */
  driver?: { driverId: string; keyHash: string };
}
