import { type AuditAction, type AuditEntry, auditOf } from '../../shared/accounts/audit.ts';
import type { CurrentAccount } from '../../shared/accounts/members.ts';
import { sessionsOf } from '../../shared/accounts/session.ts';
import type { Session } from '../../shared/accounts/session-store.ts';
import { completeTeam } from '../../shared/accounts/team.ts';
import type { Context } from '../../shared/base/context.ts';
import { keyNames } from '../../shared/keys/list-keys.ts';
import { Empty, Fact, TableHead } from '../../web/kit/blocks.tsx';
import { None, RideLink, Time } from '../../web/kit/facts.tsx';
import { ChangeForm } from '../../web/kit/forms.tsx';
import { keyPath } from '../../web/kit/paths.ts';
import { roleTexts } from '../../web/kit/roles.ts';
import { dashboardPage, PageHead } from './frame.tsx';
import { type DashboardRoute, signedInRoutes } from './page-routes.ts';

const entriesAPage = 50;
const mostBrowsers = 50;

/** The signed-in person and their sessions and, for owners, the account's audit list. */
export function accountRoutes(service: Context): DashboardRoute[] {
  const { page } = signedInRoutes(service);
  return [
    page('/account', async ({ account, owner, session, query }) => {
      const before = entryAfter(query('before'));
      if (account.member.role === 'owner') await completeTeam(account);
      const [sessions, found] = await Promise.all([
        sessionsOf(account, mostBrowsers, service.now()),
        account.member.role === 'owner' ? auditOf(account._id, entriesAPage + 1, before) : [],
      ]);
      const keyIds = found.flatMap(({ keyId }) => keyId ?? []);
      return accountPage({
        account,
        sessions,
        currentId: session._id,
        entries: found.slice(0, entriesAPage),
        hasMore: found.length > entriesAPage,
        isFirst: before === undefined,
        keyNames: await keyNames(keyIds, owner),
      });
    }),
  ];
}

interface AccountPageProps {
  account: CurrentAccount;
  /** The signed-in browsers, most recently used first. */
  sessions: readonly Session[];
  currentId: string;
  entries: readonly AuditEntry[];
  hasMore: boolean;
  isFirst: boolean;
  /** The current names of the account's keys, by key id. */
  keyNames: ReadonlyMap<string, string>;
}

const words: Record<AuditAction, string> = {
  key_created: 'created a key',
  key_renamed: 'renamed a key',
  key_rotated: 'rotated a key',
  key_revoked: 'revoked a key',
  webhook_url_set: 'changed the webhook URL',
  signing_secret_rolled: 'rolled the signing secret',
  signing_secret_viewed: 'viewed the signing secret',
  signed_in: 'signed in',
  switched_in: 'switched to this account',
  session_ended: 'ended the session of a browser',
  signed_out_everywhere: 'signed out everywhere',
  account_suspended: 'suspended the account',
  account_resumed: 'lifted the suspension of the account',
  key_suspended: 'suspended a key',
  key_resumed: 'lifted the suspension of a key',
  limit_changed: 'changed the limit of a key',
  offer_accepted: 'accepted an offer for a ride',
  ride_cancelled: 'cancelled a ride',
  ride_erased: 'erased a ride',
  events_resent: 'resent events that had failed',
  desk_key_chosen: 'chose the key of the desk',
  // Only the operator's account has these, and it has no dashboard.
  driver_created: 'created a driver',
  driver_key_rotated: "replaced a driver's key",
  driver_suspended: 'suspended a driver',
  driver_resumed: 'lifted the suspension of a driver',
  driver_revoked: "revoked a driver's key",
  pool_paused: 'paused a worker pool',
  pool_resumed: 'resumed a worker pool',
  swept: 'started a full sweep',
  member_invited: 'invited',
  invitation_withdrawn: 'withdrew the invitation of',
  member_joined: 'joined as',
  role_changed: 'changed the role of',
  member_removed: 'removed',
  member_left: 'left the account',
  account_handed_over: 'handed the account over to',
  account_renamed: 'renamed the account',
  secrets_rekeyed: 're-encrypted the secrets',
  token_created: 'created a token for an operator',
  token_revoked: "revoked an operator's token",
  operator_signed_in: "opened the operators' pages",
  backed_up: 'made a backup',
  restored: 'restored a backup',
  rides_released: 'released rides after a restore',
};

function accountPage(props: AccountPageProps): string {
  const { account } = props;
  return dashboardPage({
    title: 'Account',
    account,
    section: 'account',
    children: (
      <>
        <PageHead title="Account" />
        <dl class="card facts">
          <Fact name="E-mail">{account.member.email}</Fact>
          <Fact name="Account">
            <a href="/dashboard/team">{account.name}</a>
          </Fact>
          <Fact name="Your role">{roleTexts[account.member.role].name}</Fact>
          <Fact name="Account since">
            <Time at={account.createdAt} form="date" />
          </Fact>
        </dl>
        <section class="section" aria-labelledby="sessions">
          <h2 id="sessions">Signed-in browsers</h2>
          <BrowserTable {...props} />
          <div class="row after-table">
            <ChangeForm action="/dashboard/sign-out-everywhere">
              <button class="btn danger" type="submit" aria-describedby="everywhere-hint">
                Sign out everywhere
              </button>
            </ChangeForm>
            <p class="hint" id="everywhere-hint">
              Ends every session of yours at once, including this one, in all your accounts. Keys continue to work. A
              session ends after 30 days without use, and 90 days after sign-in at the latest.
            </p>
          </div>
        </section>
        {account.member.role === 'owner' && <Activity {...props} />}
      </>
    ),
  });
}

/** What was done in the account, with links to older entries. */
function Activity(props: AccountPageProps) {
  const { entries, hasMore, isFirst } = props;
  const last = entries.at(-1);
  return (
    <section class="section" aria-labelledby="audit">
      <h2 id="audit">Activity in this account</h2>
      {entries.length > 0 ? (
        <AuditTable {...props} />
      ) : (
        <Empty text={isFirst ? 'No entries yet. Start by creating a key.' : 'No older entries.'} />
      )}
      {(hasMore || !isFirst) && (
        <nav class="pager" aria-label="Entries">
          {!isFirst && (
            <a class="btn second" href="/dashboard/account#audit">
              Newest
            </a>
          )}
          {hasMore && last && (
            <a class="btn second" href={`/dashboard/account?before=${cursorOf(last)}#audit`}>
              Older
            </a>
          )}
        </nav>
      )}
    </section>
  );
}

function AuditTable({ entries, keyNames }: AccountPageProps) {
  return (
    <table class="table audit cards" aria-labelledby="audit">
      <TableHead columns={['When', 'What', 'Key', 'Who', 'From']} />
      <tbody>
        {entries.map(({ _id, at, action, keyId, about, member, from }) => (
          <tr key={_id}>
            <td data-label="When" class="at">
              <Time at={at} />
            </td>
            <td data-label="What" class="what">
              {words[action]}
              {about && <> {about.startsWith('ride_') ? <RideLink rideId={about} /> : about}</>}
            </td>
            <td data-label="Key" class="key breakable">
              {keyId ? <a href={keyPath(keyId)}>{keyNames.get(keyId) ?? keyId}</a> : <None />}
            </td>
            <td data-label="Who" class="who breakable">
              {member ?? 'the operator'}
            </td>
            <td data-label="From" class="from">
              <code>{from}</code>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The cursor of an entry, for a URL. */
const cursorOf = ({ at, _id }: Pick<AuditEntry, 'at' | '_id'>): string => `${at.getTime()}-${_id}`;

/** The entry that a cursor names; undefined for the first page and for an invalid cursor. */
function entryAfter(cursor: string): Pick<AuditEntry, 'at' | '_id'> | undefined {
  const [, ms, _id] = /^(\d{1,15})-(audit_[0-9A-Za-z]+)$/.exec(cursor) ?? [];
  return ms && _id ? { at: new Date(Number(ms)), _id } : undefined;
}

interface BrowserTableProps {
  sessions: readonly Session[];
  currentId: string;
}

/** The browsers in which the person is signed in, each with a button that ends its session. */
function BrowserTable({ sessions, currentId }: BrowserTableProps) {
  return (
    <table class="table browsers cards" aria-labelledby="sessions">
      <TableHead columns={['Browser', 'Signed in', 'Last used', 'Network', <span class="spoken">Session</span>]} />
      <tbody>
        {sessions.map(({ _id, browser = 'An unknown browser', network, createdAt, lastUsedAt }) => (
          <tr key={_id}>
            <td data-label="Browser" class="browser">
              {browser} {_id === currentId && <strong class="pill">this browser</strong>}
            </td>
            <td data-label="Signed in" class="since">
              <Time at={createdAt} />
            </td>
            <td data-label="Last used" class="used">
              <Time at={lastUsedAt} />
            </td>
            <td data-label="Network" class="network">
              {network ? <code>{network}</code> : <span class="quiet">not known</span>}
            </td>
            <td class="action">
              <ChangeForm action="/dashboard/account/end-session">
                <input type="hidden" name="session" value={_id} />
                <button class="btn second" type="submit">
                  End session<span class="spoken"> of {browser}</span>
                </button>
              </ChangeForm>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
