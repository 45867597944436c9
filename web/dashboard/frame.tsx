import type { CurrentAccount } from '../../shared/accounts/members.ts';
import type { Document } from '../kit/answer.ts';
import { PageHead } from '../kit/blocks.tsx';
import { Mark, outsidePage, renderDocument } from '../kit/document.tsx';
import { ChangeForm } from '../kit/forms.tsx';
import type { Page } from '../kit/page.tsx';
import { firstPages } from '../kit/roles.ts';
import { Viewer } from '../kit/viewer.tsx';
import { mayUse, pages } from './pages.ts';

type Entry = readonly [label: string, href: string, route: string | null];

/** The entry of a section with the page that it leads to. */
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

interface FrameProps extends Omit<Document, 'lead' | 'actions' | 'heading' | 'outside' | 'around'> {
  account: CurrentAccount;
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
              <span class={isNamed(account) ? 'if-wide' : undefined}>{account.member.email}</span>
              {isNamed(account) && <span class="if-narrow">Account</span>}
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

/** A phone has no room for the address beside an account's name. */
const isNamed = ({ name, member, others }: CurrentAccount): boolean => others.length > 0 || name !== member.email;

/** The name of the account, with which a person who belongs to several accounts switches to another one. */
function AccountName({ account }: { account: CurrentAccount }) {
  const { name, others } = account;
  if (others.length === 0) return isNamed(account) ? <span class="account">{name}</span> : null;
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

/** A declared page in the frame of the dashboard. */
export function renderInFrame(
  account: CurrentAccount,
  { lead, actions, children, heading, outside, around = (page) => page, ...frame }: Document,
): string {
  if (outside) return outsidePage({ ...frame, kind: outside, children });
  return dashboardPage({
    ...frame,
    account,
    children: around(
      <>
        <PageHead title={heading ?? frame.title} actions={actions}>
          {lead}
        </PageHead>
        {children}
      </>,
    ),
  });
}
