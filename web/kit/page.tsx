import type { ComponentChildren } from 'preact';
import type { Role } from '../../shared/accounts/account.ts';
import { hasRecentCode } from '../../shared/accounts/session.ts';
import type { Answer, AskRequest, Document, PageRequest, Section, SentRequest, ShownRequest } from './answer.ts';
import { readFields } from './declared-fields.tsx';
import { addressOf, Confirm, Notice, type Sent, Shown } from './declared-form.tsx';
import type { Form, OtherPage } from './form.ts';
import { FaultSummary } from './forms.tsx';

interface PageDeclaration<Subject, Data> {
  /** The section in the navigation, and the label of its entry if it leads to this page. */
  section: Section;
  entry?: string;
  /** The roles that may see the page. */
  roles: readonly Role[];
  /** Finds what the page and its forms are about. Throws `not_found`. */
  find?(request: ShownRequest): Promise<Subject>;
  /** True if the subject does not take this form: it leads back to the page. */
  isClosed?(subject: Subject, request: SentRequest): unknown;
  /** The address to which the page leads if it has nothing to show. */
  leave?(subject: Subject): string | false;
  read(request: ShownRequest, subject: Subject): Data | Promise<Data>;
  /** A document with errors is a 422. */
  view(data: Data): Document;
  /** What the page's script reads, below the page at `/state`, and what it follows, at `/events`. */
  state?(request: PageRequest): Promise<object>;
  stream?(request: PageRequest): Promise<Answer>;
  /** What the page's script asks, by the name below the page. Changes nothing. */
  asks?: Readonly<Record<string, (request: AskRequest) => Promise<Answer>>>;
  /** Files below the page, by name. */
  files?: Readonly<Record<string, (request: PageRequest) => Promise<Answer>>>;
  /** The title over the faults of a form. */
  faultTitle?: string;
  forms?: Readonly<Record<string, Form<Subject>>>;
}

/** A route of a page, with the roles that may use it. `ofScript`: a script gets a 401 in the place of the sign-in page. */
export type PageRoute = { path: string; roles: readonly Role[]; ofScript?: boolean } & (
  | { method: 'GET'; answer(request: PageRequest): Promise<Answer> }
  | { method: 'POST'; ask(request: AskRequest): Promise<Answer> }
  | { method: 'POST'; answer(request: SentRequest): Promise<Answer>; ofPerson?: boolean }
);

export type Page = Pick<PageDeclaration<never, never>, 'section' | 'entry'> & {
  path: string;
  routes: PageRoute[];
};

/**
 * Declares a page with its forms. A form is answered in this order: unknown subject (404), closed subject (303), faults
 * (422), no recent code (303), the change. The session, the rights, the form id and the form's account are checked before.
 */
export function page<Data extends object, Subject = void>(
  path: string,
  declared: PageDeclaration<Subject, Data>,
): Page {
  const {
    section,
    entry,
    roles,
    find,
    isClosed,
    leave,
    read,
    view,
    state,
    stream,
    asks = {},
    files = {},
    faultTitle,
    forms = {},
  } = declared;
  const pathOf = (name: string) => forms[name]?.path ?? `${path}/${name}`;
  const home = ({ param }: PageRequest) => addressOf(path, param);
  const subjectOf = async (request: ShownRequest) => (await find?.(request)) as Subject;
  const doneTexts = new Map(Object.values(forms).flatMap(({ done = {} }) => Object.entries(done)));

  const inFrame = (request: PageRequest, { document, ...answer }: OtherPage) => ({
    ...answer,
    html: request.inFrame({ section, ...document }),
  });

  async function show(request: ShownRequest, subject: Subject, sent: Sent = {}, status?: number) {
    const { name, faults = {}, refusal, show: replaced } = sent;
    const { children, actions, ...document } = view({ ...(await read(request, subject)), ...replaced });
    const done = name ? undefined : doneTexts.get(request.query('done'));
    const inPage = (part: ComponentChildren) => (
      <Shown.Provider value={{ request, sent, forms, pathOf }}>{part}</Shown.Provider>
    );
    const hasErrors = document.hasErrors || refusal !== undefined || Object.keys(faults).length > 0;
    const shown: Document = {
      ...document,
      hasErrors,
      actions: actions && inPage(actions),
      children: inPage(
        <>
          {done && <Notice>{done}</Notice>}
          {refusal && <Notice bad>{refusal}</Notice>}
          <FaultSummary faults={faults} title={faultTitle} />
          {children}
        </>,
      ),
    };
    return inFrame(request, { document: shown, status: status ?? (hasErrors ? 422 : 200) });
  }

  async function showConfirmation(name: string, request: PageRequest): Promise<Answer> {
    const { confirm, anchor = '' } = forms[name] as Form<Subject>;
    const subject = await subjectOf(request);
    const question = confirm?.(request, subject);
    if (!question) return { redirectTo: home(request) };
    const action = addressOf(pathOf(name), request.param) + anchor;
    const children = <Confirm {...question} action={action} back={home(request)} />;
    const { title, test, about } = question;
    return inFrame(request, { document: { title, test, lead: <p>{about}</p>, children } });
  }

  async function send(name: string, request: SentRequest): Promise<Answer> {
    const { fields, recentCode, act, done = {} } = forms[name] as Form<Subject>;
    const subject = await subjectOf(request);
    if (isClosed?.(subject, request)) return { redirectTo: home(request) };
    const { values, faults } = readFields(fields, request.text, request.service);
    if (Object.keys(faults).length > 0) return show(request, subject, { name, faults });
    const kept = recentCode?.(request, values, subject);
    if (kept && !hasRecentCode(request.session, request.service.now())) {
      return { redirectTo: `/dashboard/confirm?next=${encodeURIComponent(backFromCode(name, request, kept))}` };
    }
    const result = (await act(request, values, subject)) ?? { done: Object.keys(done)[0] };
    if ('done' in result) return { redirectTo: home(request) + (result.done ? `?done=${result.done}` : '') };
    if ('document' in result) return inFrame(request, result);
    if (!('again' in result)) return result;
    const { again: status, headers, code, ...more } = result;
    return { ...(await show(request, subject, { ...more, name }, status)), headers, code };
  }

  /** The page to which the code leads back, with the fields that are kept. */
  function backFromCode(name: string, request: SentRequest, kept: readonly string[]): string {
    const { confirm, anchor = '' } = forms[name] as Form<Subject>;
    const back = confirm ? addressOf(pathOf(name), request.param) : home(request) + anchor;
    const typed = kept.map((field) => `${field}=${encodeURIComponent(request.text(field))}`);
    return typed.length > 0 ? `${back}?${typed.join('&')}` : back;
  }

  const formRoutes = Object.entries(forms).flatMap(([name, { confirm, ofPerson, ...own }]): PageRoute[] => {
    const route = { path: pathOf(name), roles: own.roles ?? roles };
    const post = { ...route, method: 'POST' as const, ofPerson, answer: (request: SentRequest) => send(name, request) };
    if (own.path && !confirm) return [post];
    return [post, { ...route, method: 'GET', answer: (request) => showConfirmation(name, request) }];
  });
  const scriptRoutes = Object.entries(asks).map(
    ([name, ask]): PageRoute => ({ method: 'POST', path: `${path}/${name}`, roles, ofScript: true, ask }),
  );
  const answer = async (request: PageRequest): Promise<Answer> => {
    const subject = await subjectOf(request);
    const redirectTo = leave?.(subject);
    return redirectTo ? { redirectTo } : show(request, subject);
  };
  const get = (path: string, answer: (request: PageRequest) => Promise<Answer>, ofScript?: boolean): PageRoute => ({
    ...{ method: 'GET', path, roles, answer, ofScript },
  });
  if (state) scriptRoutes.push(get(`${path}/state`, async (request) => ({ json: await state(request) }), true));
  if (stream) scriptRoutes.push(get(`${path}/events`, stream, true));
  const fileRoutes = Object.entries(files).map(([name, file]) => get(`${path}/${name}`, file));
  return { section, entry, path, routes: [get(path, answer), ...fileRoutes, ...scriptRoutes, ...formRoutes] };
}
