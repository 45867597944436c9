import type { ComponentChildren } from 'preact';
import type { Account } from '../../shared/accounts/account.ts';
import { Mark, renderDocument } from '../pages/document.tsx';

/** The sections of the dashboard, in the order of the navigation. */
const sections = {
  overview: ['Overview', '/dashboard'],
  desk: ['Desk', '/dashboard/desk'],
  keys: ['Keys', '/dashboard/keys'],
  rides: ['Rides', '/dashboard/rides'],
  deliveries: ['Deliveries', '/dashboard/deliveries'],
  usage: ['Usage', '/dashboard/usage'],
  console: ['Console', '/dashboard/console'],
  docs: ['Docs', '/docs'],
} as const;
type Section = keyof typeof sections | 'account';

interface FrameProps {
  title: string;
  account: Pick<Account, 'email'>;
  section: Section;
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
      <>
        <a class="skip-link" href="#main">
          Skip to the content
        </a>
        <header class="top">
          <a class="brand" href="/dashboard">
            <Mark />
            <span>Ride Partner</span>
          </a>
          <div class="who">
            <a class="email" href="/dashboard/account" aria-current={section === 'account' ? 'page' : undefined}>
              {account.email}
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
              {Object.entries(sections).map(([name, [label, href]]) => (
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
      </>
    ),
  });
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
