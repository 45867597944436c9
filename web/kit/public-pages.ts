import type { AppError } from '../../shared/base/errors.ts';
import type { Tiles } from '../../shared/base/tiles.ts';

/** A request of anybody, for a page outside the dashboard. */
export interface PublicRequest {
  requestId: string;
  method: string;
  /** Without the query. */
  path: string;
  /** The parameters of the route's path. */
  params: Readonly<Record<string, string | undefined>>;
  query: Readonly<Record<string, string | string[] | undefined>>;
  /** A header; empty if it is missing. */
  header(name: string): string;
  /** True for browsers, which prefer HTML to JSON. */
  prefersPage(): boolean;
  /** The unit that limits count as one client. */
  client(): string;
  /** Reads the form in the body. Throws a 400, 408 or 413. */
  form(): Promise<{ text(name: string): string }>;
}

/** A cookie that scripts cannot read. */
export interface PageCookie {
  read(): string;
  write(value: string, lifetimeMs: number): void;
  clear(): void;
}

/** A client's stream of server-sent events. */
export interface OpenStream {
  send(text: string): void;
  end(): void;
  onClose(listener: () => void): void;
}

/** Opens a stream with `open`, and sends the state of a ride now and at every change. */
export type FollowRide<Ride, State> = (ride: Ride, state: State, open: () => OpenStream) => void;

type Headers = Readonly<Record<string, string>>;

/** A file. With `encoded` copies, the client gets one that it accepts; with an `etag`, a 304 if its copy is current. */
export interface FileAnswer {
  file: string | Buffer;
  /** The media type, or the ending of the file's name. */
  type: string;
  headers?: Headers;
  encoded?: Readonly<Partial<Record<'br' | 'gzip', string | Buffer>>>;
  etag?: string;
  /** The route to log. */
  route?: string;
}

/** A whole page, a redirect, data, nothing (204), a file or a stream. */
export type PublicAnswer =
  | { html: string; status?: number; headers?: Headers }
  | { redirectTo: string; status?: 302 | 303 }
  | { json: object; status?: number }
  | { empty: true }
  | FileAnswer
  | { stream(open: () => OpenStream): void };

type Answering<More> = (request: PublicRequest & More) => PublicAnswer | Promise<PublicAnswer>;

export interface PublicRoute<More = object> {
  method: 'GET' | 'POST';
  /** Relative to the base. */
  path: string;
  answer: Answering<More>;
}

/** Pages that `api/web-part.ts` serves. `More` is what their requests have beyond `PublicRequest`. */
export interface PublicPages<More = object> {
  /** The name in the log. */
  name: string;
  base: string;
  /** Absent if the pages own the base and every path below it. */
  owns?(path: string): boolean;
  /** Only requests that prefer HTML to JSON are for these pages. */
  onlyForPages?: true;
  /** The security headers: those of a page, or of data. */
  security?:
    | 'data'
    | { tiles?: Tiles; referrer?: 'strict-origin'; uses?: readonly ('geolocation' | 'screen-wake-lock')[] };
  /** Further headers of every answer, errors included. */
  headers?: Headers;
  /** The route to log for every request, instead of the pattern of its path. */
  logAs?: string;
  /** Runs first. An answer ends the request, for example with the way to the sign-in page. */
  admit?(request: PublicRequest & More): Promise<PublicAnswer | null>;
  routes: readonly PublicRoute<More>[] | Files<More>;
  /** True if an answer is a stream. */
  hasStreams?: true;
  /** The page of an error; JSON if absent. */
  renderError?(error: AppError, request: { state: { requestId: string } }): string;
}

/** Files whose paths are known only when the first of them is requested. */
interface Files<More> {
  paths(): readonly string[];
  answer: Answering<More>;
}
