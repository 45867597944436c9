import type { AppError } from '../../shared/base/errors.ts';
import type { Tiles } from '../../shared/base/tiles.ts';
import type { Answer, Headers, PublicRequest } from './answer.ts';

/** Answers a request. Null leaves it to the next route with this path. */
export type Answering<More> = (request: PublicRequest & More) => Answer | null | Promise<Answer | null>;

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
  admit?(request: PublicRequest & More): Promise<Answer | null>;
  routes: readonly PublicRoute<More>[] | Files<More>;
  /** True if an answer is a stream. */
  hasStreams?: true;
  /** The page of an error; JSON if absent. */
  renderError?(error: AppError, request: PublicRequest & { state: { requestId: string } }): string;
}

/** Files whose paths are known only when the first of them is requested. */
interface Files<More> {
  paths(): readonly string[];
  answer: Answering<More>;
}
