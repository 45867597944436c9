import type { ComponentChildren } from 'preact';
import type { Account } from '../../shared/accounts/account.ts';
import { Mark, renderDocument } from '../pages/document.tsx';

/** The rooms of the dashboard in the order of the rail. */
const rooms = {
  overview: ['Overview', '/dashboard'],
  keys: ['Keys', '/dashboard/keys'],
  rides: ['Rides', '/dashboard/rides'],
  deliveries: ['Deliveries', '/dashboard/deliveries'],
  usage: ['Usage', '/dashboard/usage'],
  console: ['Console', '/dashboard/console'],
  docs: ['Docs', '/docs'],
} as const;
type Room = keyof typeof rooms | 'account';

interface FrameProps {
  title: string;
  account: Pick<Account, 'email'>;
  room: Room;
  /** The page shows data of a test key. */
  test?: boolean;
  /** The form on the page came back with faults. */
  hasErrors?: boolean;
  scripts?: readonly string[];
  /** Without scripts, the browser loads this path (without a fragment) after 3 s: the page waits for something. */
  refreshPath?: string;
  children: ComponentChildren;
}

/** A whole page of the dashboard: header, rail and content. */
export function dashboardPage(props: FrameProps): string {
  const { title, account, room, test, hasErrors, scripts = [], refreshPath, children } = props;
  return renderDocument({
    title: hasErrors ? `Error: ${title}` : title,
    kind: 'dashboard',
    scripts: ['dashboard-page.js', ...scripts],
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
            <a class="email" href="/dashboard/account" aria-current={room === 'account' ? 'page' : undefined}>
              {account.email}
            </a>
            <form method="post" action="/dashboard/sign-out">
              <button class="btn quiet-btn" type="submit">
                Sign out
              </button>
            </form>
          </div>
        </header>
        {test && <p class="test-band">Test data</p>}
        <div class="frame">
          <nav class="rail" aria-label="Dashboard">
            <ul>
              {Object.entries(rooms).map(([name, [label, href]]) => (
                <li key={name}>
                  <a href={href} aria-current={name === room ? 'page' : undefined}>
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

/** The top of a page: its title, a text, and actions. */
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
  children: ComponentChildren;
}

/** A page of the dashboard without the rail: signing in. */
export function outsidePage({ title, hasErrors, children }: OutsidePage): string {
  return renderDocument({
    title: hasErrors ? `Error: ${title}` : title,
    kind: 'dashboard sign-in',
    scripts: ['dashboard-page.js'],
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
