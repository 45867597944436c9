import type { Readable } from 'node:stream';
import type { ComponentChildren } from 'preact';
import type { CurrentAccount } from '../../shared/accounts/members.ts';
import type { SentForm } from '../../shared/accounts/sent-form.ts';
import type { CurrentSession } from '../../shared/accounts/session.ts';
import type { Context } from '../../shared/base/context.ts';
import type { ErrorCode } from '../../shared/base/errors.ts';
import type { KeyFacts } from '../../shared/keys/manage-keys.ts';
import type { TestScenario } from '../../shared/rides/ride-types.ts';

/** The request of a signed-in person for a page. */
export interface PageRequest {
  service: Context;
  account: CurrentAccount;
  session: CurrentSession;
  /** The account to which the request is restricted. */
  owner: { accountId: string };
  requestId: string;
  /** The client's address. */
  from: string;
  /** A path parameter, for example `keyId`. */
  param(name: string): string;
  /** A query parameter; empty if it is missing. */
  query(name: string): string;
  /** True if the query has this parameter, also without a value. */
  has(name: string): boolean;
  /** The present view of a key. All readings of a key follow one another, so a view with a later time is not older. */
  latest<View extends FollowedView>(view: KeyView<View>, keyId: string): Promise<View>;
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

/** A stream of the states of a key's view, from `first` on. Without a key, nothing follows. */
export interface KeyStream<View extends FollowedView> {
  view: KeyView<View>;
  keyId?: string;
  first: View;
}

/** A request of a page's script with fields that must not be in a URL, because proxies log URLs. */
export type AskRequest = PageRequest & Pick<SentRequest, 'text'>;

/** Data for a page's script. */
export interface ScriptAnswer {
  data: object;
  status?: number;
  headers?: Record<string, string>;
}

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
  /** Only the content, for a screen on a wall. */
  isWall?: boolean;
  /** Puts an element around the title and the content. */
  around?(page: ComponentChildren): ComponentChildren;
}

/** A file that the browser saves. Its name has only word characters, dots and dashes. */
export interface Download {
  file: string;
  type: string;
  body: Readable;
}

/** A page, a download, a redirect (303), or the refusal of a change to a suspended account. */
export type Answer =
  | { document: Document; status?: number; headers?: Record<string, string>; code?: ErrorCode }
  | Download
  /** `endsSession` removes the session's cookie. */
  | { redirectTo: string; endsSession?: boolean }
  | { suspended: true };

/** The header of a 429 that says when the limit has room again. */
export const retryAfter = (freesMs: number) => ({ 'Retry-After': String(Math.ceil(freesMs / 1_000)) });
