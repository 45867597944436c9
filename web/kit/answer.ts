import type { Readable } from 'node:stream';
import type { ComponentChildren } from 'preact';
import type { CurrentAccount } from '../../shared/accounts/members.ts';
import type { SentForm } from '../../shared/accounts/sent-form.ts';
import type { CurrentSession } from '../../shared/accounts/session.ts';
import type { Context } from '../../shared/base/context.ts';
import type { ErrorCode } from '../../shared/base/errors.ts';
import type { KeyFacts } from '../../shared/keys/manage-keys.ts';
import type { Ride, TestScenario } from '../../shared/rides/ride-types.ts';

/** A request of anybody for a page, without Koa. */
export interface PublicRequest {
  requestId: string;
  method: string;
  /** Without the query. */
  path: string;
  /** A parameter of the route's path, for example `keyId`; empty if it is missing. */
  param(name: string): string;
  /** A parameter of the query, the first one of this name; empty if it is missing. */
  query(name: string): string;
  /** True if the query has this parameter, also without a value. */
  has(name: string): boolean;
  /** All parameters, for a library that reads them. */
  all: Readonly<Record<'params' | 'query', Readonly<Record<string, string | string[] | undefined>>>>;
  /** A header; empty if it is missing. */
  header(name: string): string;
  /** True for browsers, which prefer HTML to JSON. */
  prefersPage(): boolean;
  /** The unit that limits count as one client. */
  client(): string;
  /** A cookie of this host, by its name. In production, only HTTPS sends it. */
  hostCookie(name: string): PageCookie;
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

/** The view of a ride that one kind of page shows. */
export interface RideView<Read, State> {
  /** The projection for reading a ride. */
  fields: object;
  /** Adds data that is not stored in the ride. */
  complete?(ride: Read, service: Context): Promise<Read>;
  /** The state to show, or null if the ride is no longer shown: then its streams end. Pure. */
  stateOf(ride: Read): State | null;
  /** True for the final state. */
  isLast(state: State): boolean;
  /** True if the state is sent even if only its time has changed. */
  isAlwaysNews?(state: State): boolean;
  /** Each ride is read at least this often, because not every change causes a wake-up. */
  pollMs: number;
}

/** Opens a stream with `open`, and sends the state of a ride now and at every change. */
export type FollowRide<Ride, State> = (ride: Ride, state: State, open: () => OpenStream) => void;

export type Headers = Readonly<Record<string, string>>;

/** A file. With `encoded` copies, the client gets one that it accepts; with an `etag`, a 304 if its copy is current. */
export interface FileAnswer {
  file: string | Buffer | Readable;
  /** The media type, or the ending of the file's name. */
  type: string;
  headers?: Headers;
  encoded?: Readonly<Partial<Record<'br' | 'gzip', string | Buffer>>>;
  etag?: string;
  /** The route to log. */
  route?: string;
}

/** A whole page, a redirect (303, if it names no status), data for a script, nothing (204), a file or a stream. */
export type Answer =
  | { html: string; status?: number; headers?: Headers; code?: ErrorCode }
  | { redirectTo: string; status?: 302 | 303 }
  | { json: object; status?: number; headers?: Headers }
  | { empty: true }
  | FileAnswer
  | { stream(open: () => OpenStream): void };

/** The cookie with the token of a dashboard session. */
export const sessionCookie = 'session';

/** A person who has signed in to the dashboard. */
export interface Person {
  account: CurrentAccount;
  session: CurrentSession;
}

/** What requests for the dashboard have beyond those of anybody. */
export interface OfDashboard {
  service: Context;
  /** The client's address. */
  from: string;
  /** The page that lists the mails, in a development stack that sends none. */
  mailPage?: string;
  /** Finds the person who has signed in; null if nobody has. */
  person(): Promise<Person | null>;
}

/** The request of a signed-in person for a page. */
export interface PageRequest extends Omit<PublicRequest & OfDashboard, 'form' | 'person'>, Person {
  /** The account to which the request is restricted. */
  owner: { accountId: string };
  /** The present view of a key. All readings of a key follow one another, so a view with a later time is not older. */
  latest<View extends FollowedView>(view: KeyView<View>, keyId: string): Promise<View>;
  /** The stream of the states of a key's view, from `first` on. Without a key, nothing follows. */
  followKey<View extends FollowedView>(view: KeyView<View>, keyId: string | undefined, first: View): Answer;
  /** The stream of the states of a ride, from `state` on, until the last one. */
  followRide<Read extends { _id: string }, State extends { now: number }>(
    view: RideView<Read, State>,
    ride: Read,
    state: State,
  ): Answer;
  /** The HTML of a page of this person. */
  inFrame(document: Document): string;
}

export interface FollowedView {
  /** Unix ms, by MongoDB's clock. */
  now: number;
  /** Changes with everything that the view shows. */
  version: string;
}

/** A view of a key's rides that many people follow. It is read once for all of them. */
export interface KeyView<View extends FollowedView> {
  /** `known` is the last view. */
  read(service: Context, keyId: string, known?: View): Promise<View>;
  /** The state for the script of a reader who has `known`. */
  stateOf(view: View, known?: View): object;
}

/** A request of a page's script with fields that must not be in a URL, because proxies log URLs. */
export type AskRequest = PageRequest & Pick<SentRequest, 'text'>;

/** A request that sends a form. */
export interface SentRequest extends PageRequest {
  /** The one-time id of the form, as it was sent. */
  formId: string;
  sent: SentForm;
  arrivedAt: Date;
  /** A field of the form; empty if it is missing. */
  text(name: string): string;
  /** The faults of a creation's body (contract, section 4.1) by path, such as `pickup.lat`. */
  faultsOfRide(body: object): Record<string, string>;
  /** The faults of a manual offer (contract, section 10.4) by path. */
  faultsOfOffer(body: object): Record<string, string>;
  /**
   * Changes a ride as the API does (contract, section 10.14), and adds an entry to the audit list, once per form. A field
   * that is undefined is removed. Resolves with the faults of the body by path, if it has any.
   */
  changeRide(ride: Pick<Ride, '_id' | 'keyId'>, body: object): Promise<Record<string, string>>;
  /** The id of the ride that this form has created before with one of these keys, if there is one. */
  findCreated(keyIds: readonly string[]): Promise<string | null | undefined>;
  /**
   * Creates a ride with a valid body as the API does, within the limits. The form id is the Idempotency-Key: a form that
   * is sent again returns the same ride.
   */
  createRide(key: KeyFacts, body: object, scenario?: TestScenario): Promise<{ _id: string }>;
}

/** The entries of the navigation, and the account in the header. */
export type Section = 'overview' | 'desk' | 'keys' | 'rides' | 'deliveries' | 'usage' | 'console' | 'team' | 'account';

/** A request for which a page is shown, also again after a form. */
export type ShownRequest = PageRequest & Partial<SentRequest>;

/** A page of the dashboard, without its frame. */
export interface Document {
  title: string;
  /** The heading, if it is not the title. */
  heading?: ComponentChildren;
  /** The section, if it is not that of the declaration. */
  section?: Section;
  /** The text below the title. */
  lead?: ComponentChildren;
  actions?: ComponentChildren;
  /** The page shows data of a test key. */
  test?: boolean;
  hasErrors?: boolean;
  scripts?: readonly string[];
  /** For a page that waits for an answer: without scripts, the browser loads this path (no fragment) after 3 s. */
  refreshPath?: string;
  children?: ComponentChildren;
  /** The page has no frame. */
  outside?: 'sign-in' | 'wall';
  /** Puts an element around the title and the content. */
  around?(page: ComponentChildren): ComponentChildren;
}

/** The header of a 429 that says when the limit has room again. */
export const retryAfter = (freesMs: number) => ({ 'Retry-After': String(Math.ceil(freesMs / 1_000)) });
