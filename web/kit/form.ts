import type { ComponentChildren } from 'preact';
import type { Role } from '../../shared/accounts/account.ts';
import type { ErrorCode } from '../../shared/base/errors.ts';
import type { Answer, Document, Headers, PageRequest, SentRequest } from './answer.ts';
import type { Field } from './declared-fields.tsx';
import type { Faults } from './forms.tsx';

/** The page again, with the status `again`, after a form that does not lead back to it. */
export interface Again {
  again: number;
  /** Replaces parts of the data that the page has read. */
  show?: object;
  faults?: Faults;
  /** The reason of the refusal, if no field is to blame. */
  refusal?: ComponentChildren;
  code?: ErrorCode;
  headers?: Record<string, string>;
}

/** The question before a change that cannot be undone. */
export interface Confirmation {
  title: string;
  about: ComponentChildren;
  test?: boolean;
  effects: readonly string[];
  button: string;
  keep: string;
  hidden?: Record<string, string>;
}

type Values<Fields> = { [Name in keyof Fields]: Fields[Name] extends Field<infer Value> ? Value : never };
/** Another page in the place of the form's page. */
export type OtherPage = { document: Document; status?: number; headers?: Headers; code?: ErrorCode };
type Acted = Answer | OtherPage | Again | { done: string } | undefined;

/** A form of a page. The subject is what the page is about (`find`). */
interface FormDeclaration<Fields, Subject> {
  /**
   * The route. Without it, the form's name below the page, where a GET leads back to the page; with it, only a form with
   * a confirmation has a GET.
   */
  path?: string;
  /** The roles that may send the form, if these are not all that may see the page. */
  roles?: readonly Role[];
  fields?: Fields;
  /** The part of the page to which the form belongs, as a fragment. */
  anchor?: `#${string}`;
  /** Accepted from every account of the person, also while it is suspended. */
  ofPerson?: boolean;
  /** Asks for a confirmation on a page of its own; null leads back to the page. */
  confirm?(request: PageRequest, subject: Subject): Confirmation | null;
  /** If a recent code is needed: the fields that are filled in again after the code, by the address. */
  recentCode?(request: SentRequest, values: Values<Fields>, subject: Subject): readonly string[] | false | undefined;
  /**
   * Makes the change, at most once per form. Leads back to the page with the notice `done`, or with the first notice if
   * the result is undefined.
   */
  act(request: SentRequest, values: Values<Fields>, subject: Subject): Acted | Promise<Acted>;
  /** The notices, by the name that is in the address of the page. */
  done?: Readonly<Record<string, string>>;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;

/** A declared form. Only inside its declaration, the values have the types of the fields. */
// biome-ignore lint/suspicious/noExplicitAny: see above.
export type Form<Subject> = Omit<FormDeclaration<any, Subject>, 'fields'> & { fields: Fields };

/** Declares a form of a page. */
export const form = <Declared extends Fields = Record<never, never>, Subject = void>(
  declared: FormDeclaration<Declared, Subject>,
): Form<Subject> => ({ ...declared, fields: declared.fields ?? {} });
