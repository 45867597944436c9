import type { Readable } from 'node:stream';
import type { ComponentChildren } from 'preact';
import type { CurrentAccount } from '../../shared/accounts/members.ts';
import type { SentForm } from '../../shared/accounts/sent-form.ts';
import type { CurrentSession } from '../../shared/accounts/session.ts';
import type { Context } from '../../shared/base/context.ts';

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
}

/** A request that sends a form. */
export interface SentRequest extends PageRequest {
  /** The one-time id of the form, as it was sent. */
  formId: string;
  sent: SentForm;
  arrivedAt: Date;
  /** A field of the form; empty if it is missing. */
  text(name: string): string;
}

/** The entries of the navigation, and the account in the header. */
export type Section = 'overview' | 'desk' | 'keys' | 'rides' | 'deliveries' | 'usage' | 'console' | 'team' | 'account';

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
  /** Puts an element around the title and the content. */
  around?(page: ComponentChildren): ComponentChildren;
}

/** A file that the browser saves. Its name has only word characters, dots and dashes. */
export interface FileAnswer {
  file: string;
  type: string;
  body: Readable;
}

/** A page, a file, a redirect (303), or the refusal of a change to a suspended account. */
export type Answer =
  | { document: Document; status?: number; headers?: Record<string, string> }
  | FileAnswer
  /** `endsSession` removes the session's cookie. */
  | { redirectTo: string; endsSession?: boolean }
  | { suspended: true };

/** The header of a 429 that says when the limit has room again. */
export const retryAfter = (freesMs: number) => ({ 'Retry-After': String(Math.ceil(freesMs / 1_000)) });
