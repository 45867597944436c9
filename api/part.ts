import type { AppError } from '../shared/base/errors.ts';
import type { Middleware, RequestContext } from './types.ts';

/** The method of a route and the pattern of its whole path, e.g. `/v1/rides/:rideId`. */
export interface RouteName {
  method: string;
  path: string;
}

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
