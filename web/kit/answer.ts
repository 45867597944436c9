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

/** A request for which a page is shown, also again after a form. */
export type ShownRequest = PageRequest & Partial<SentRequest>;

/** A page of the dashboard, without its frame. */
export interface Document {
  title: string;
  /** The text below the title. */
  lead?: ComponentChildren;
  actions?: ComponentChildren;
  /** The page shows data of a test key. */
  test?: boolean;
  hasErrors?: boolean;
  scripts?: readonly string[];
  children?: ComponentChildren;
  /** Puts an element around the title and the content. */
  around?(page: ComponentChildren): ComponentChildren;
}

/** A page, a redirect (303), or the refusal of a change to a suspended account. */
export type Answer =
  | { document: Document; status?: number; headers?: Record<string, string> }
  | { redirectTo: string }
  | { suspended: true };

/** The header of a 429 that says when the limit has room again. */
export const retryAfter = (freesMs: number) => ({ 'Retry-After': String(Math.ceil(freesMs / 1_000)) });
