import type { ComponentChildren } from 'preact';
import type { CurrentAccount } from '../../shared/accounts/members.ts';
import { pages } from '../../web/dashboard/pages.ts';
import { Mark, renderDocument } from '../../web/kit/document.tsx';
import { ChangeForm } from '../../web/kit/forms.tsx';
import type { Page } from '../../web/kit/page.tsx';
import { Viewer } from '../../web/kit/viewer.tsx';
import { firstPages, mayUse } from './rights.ts';

type Entry = readonly [label: string, href: string, route: string | null];

/** The entry of a section whose page is declared (web/dashboard/). */
function declared(section: Page['section']): Entry {
  const { entry, path } = pages.find((page) => page.section === section && page.entry) as Page;
  return [entry as string, `/dashboard${path}`, `GET ${path}`];
}

/** The sections of the dashboard, in the order of the navigation. The last entry is the route that shows it. */
const sections = {
  overview: ['Overview', '/dashboard', null],
  desk: declared('desk'),
  keys: declared('keys'),
  rides: declared('rides'),
  deliveries: declared('deliveries'),
  usage: declared('usage'),
  console: declared('console'),
  team: declared('team'),
  docs: ['Docs', '/docs', null],
} as const satisfies Record<string, Entry>;
export type Section = keyof typeof sections | 'account';

interface FrameProps {
  title: string;
  account: CurrentAccount;
  /** None for a page that refuses a request. */
  section?: Section;
  /** The page shows data of a test key. */
  test?: boolean;
  /** The page shows a form again, with faults. */
  hasErrors?: boolean;
  scripts?: readonly string[];
  /** For a page that waits for an answer: without scripts, the browser loads this path (no fragment) after 3 s. */
  refreshPath?: string;
  children: ComponentChildren;
}

/** A page of the dashboard: header, navigation and content. */
export function dashboardPage(props: FrameProps): string {
  const { title, account, section, test, hasErrors, scripts = [], refreshPath, children } = props;
  return renderDocument({
    title: hasErrors ? `Error: ${title}` : title,
    kind: 'dashboard',
    firstScript: 'dashboard-page.js',
    scripts,
    refreshPath,
    children: (
      <Viewer.Provider value={{ account, may: (route) => mayUse(account.member.role, route) }}>
        <a class="skip-link" href="#main">
          Skip to the content
        </a>
        <header class="top">
          <a class="brand" href="/dashboard">
            <Mark />
            <span>Ride Partner</span>
          </a>
          <div class="who">
            <AccountName account={account} />
            <a class="email" href="/dashboard/account" aria-current={section === 'account' ? 'page' : undefined}>
              <span class="address">{account.member.email}</span>
              <span class="short">Account</span>
            </a>
            <form method="post" action="/dashboard/sign-out">
              <button class="btn quiet-btn" type="submit">
                Sign out
              </button>
            </form>
          </div>
        </header>
        <div class="frame">
          {test && (
            <p class="test-band" id="test-band">
              Test data
            </p>
          )}
          <nav class="rail" aria-label="Dashboard">
            <ul>
              {sectionsOf(account).map(([name, [label, href]]) => (
                <li key={name}>
                  <a href={href} aria-current={name === section ? 'page' : undefined}>
                    {label}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          <main id="main" tabIndex={-1}>
            {children}
          </main>
        </div>
      </Viewer.Provider>
    ),
  });
}

/** The sections that the member's role may open. */
function sectionsOf({ member: { role } }: CurrentAccount) {
  return Object.entries(sections).filter(([name, [, href, route]]) =>
    route ? mayUse(role, route) : name !== 'overview' || firstPages[role] === href,
  );
}

/** The name of the account, with which a person who belongs to several accounts switches to another one. */
function AccountName({ account: { name, member, others } }: { account: CurrentAccount }) {
  if (others.length === 0) return name === member.email ? null : <span class="account">{name}</span>;
  return (
    <details class="switcher" id="switcher">
      <summary>
        <span class="spoken">Account: </span>
        <span class="account">{name}</span>
      </summary>
      <ul>
        {others.map((other) => (
          <li key={other._id}>
            <ChangeForm action="/dashboard/switch">
              <input type="hidden" name="to" value={other._id} />
              <button class="btn second" type="submit">
                <span class="spoken">Switch to </span>
                {other.name}
              </button>
            </ChangeForm>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The head of a page: its title, a text and actions. */
export function PageHead({
  title,
  children,
  actions,
}: {
  title: ComponentChildren;
  children?: ComponentChildren;
  actions?: ComponentChildren;
}) {
  return (
    <div class="page-head">
      <div>
        <h1>{title}</h1>
        {children}
      </div>
      {actions && <div class="actions">{actions}</div>}
    </div>
  );
}

interface OutsidePage {
  title: string;
  hasErrors?: boolean;
  scripts?: readonly string[];
  children: ComponentChildren;
}

/** A page of the dashboard without navigation, for sign-in. */
export function outsidePage({ title, hasErrors, scripts, children }: OutsidePage): string {
  return renderDocument({
    title: hasErrors ? `Error: ${title}` : title,
    kind: 'dashboard sign-in',
    firstScript: 'dashboard-page.js',
    scripts,
    children: (
      <main id="main">
        <p class="brand">
          <Mark />
          <span>Ride Partner</span>
        </p>
        {children}
      </main>
    ),
  });
}
