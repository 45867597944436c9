import type { AuditAction, AuditEntry } from '../../shared/accounts/audit.ts';
import type { CurrentAccount } from '../../shared/accounts/members.ts';
import type { Session } from '../../shared/accounts/session-store.ts';
import type { Document } from '../kit/answer.ts';
import { ButtonLink, Empty, Facts, Section } from '../kit/blocks.tsx';
import { DeclaredForm } from '../kit/declared-form.tsx';
import { None, RideLink, Time } from '../kit/facts.tsx';
import { keyPath } from '../kit/paths.ts';
import { roleTexts } from '../kit/roles.ts';
import { type Column, Table } from '../kit/table.tsx';

interface AccountData {
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
  texting_set: 'changed whether passengers are texted',
  signing_secret_rolled: 'rolled the signing secret',
  signing_secret_viewed: 'viewed the signing secret',
  endpoint_added: 'added a webhook endpoint',
  endpoint_turned_on: 'turned on a webhook endpoint',
  endpoint_turned_off: 'turned off a webhook endpoint',
  endpoint_deleted: 'deleted a webhook endpoint',
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
  trip_started: 'started a trip without its PIN',
  ride_changed: 'changed a ride',
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
  support_phone_set: 'changed the phone number for help',
  secrets_rekeyed: 're-encrypted the secrets',
  token_created: 'created a token for an operator',
  token_revoked: "revoked an operator's token",
  opt_out_cleared: 'allowed text messages to a number again',
  operator_signed_in: "opened the operators' pages",
  backed_up: 'made a backup',
  restored: 'restored a backup',
  rides_released: 'released rides after a restore',
};

export const accountView = (data: AccountData): Document => ({
  title: 'Account',
  children: (
    <>
      <Facts
        class="card facts"
        of={[
          ['E-mail', data.account.member.email],
          ['Account', <a href="/dashboard/team">{data.account.name}</a>],
          ['Your role', roleTexts[data.account.member.role].name],
          ['Account since', <Time at={data.account.createdAt} form="date" />],
        ]}
      />
      <Section id="sessions" title="Signed-in browsers">
        <Table labelledBy="sessions" rows={data.sessions} columns={browserColumns(data.currentId)} />
        <div class="row">
          <DeclaredForm name="sign-out-everywhere" button="Sign out everywhere" danger about="everywhere-hint" />
          <p class="hint" id="everywhere-hint">
            Ends every session of yours at once, including this one, in all your accounts. Keys continue to work. A
            session ends after 30 days without use, and 90 days after sign-in at the latest.
          </p>
        </div>
      </Section>
      {data.account.member.role === 'owner' && <Activity {...data} />}
    </>
  ),
});

/** The browsers in which the person is signed in, each with a button that ends its session. */
const browserColumns = (currentId: string): Column<Session>[] => [
  {
    head: 'Browser',
    at: 'line-1 left',
    cell: ({ _id, browser = unknownBrowser }) => (
      <>
        {browser} {_id === currentId && <strong class="pill">this browser</strong>}
      </>
    ),
  },
  { head: 'Signed in', at: 'line-3 left small', label: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
  { head: 'Last used', at: 'line-2 left small', label: true, cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
  {
    head: 'Network',
    at: 'line-1 right small',
    label: true,
    cell: ({ network }) => (network ? <code>{network}</code> : <span class="quiet">not known</span>),
  },
  {
    head: 'Session',
    at: 'side',
    spoken: true,
    cell: ({ _id, browser = unknownBrowser }) => (
      <DeclaredForm name="end-session" button="End session" spoken={` of ${browser}`} second>
        <input type="hidden" name="session" value={_id} />
      </DeclaredForm>
    ),
  },
];

const unknownBrowser = 'An unknown browser';

/** The latest changes in the account, with links to older entries. */
function Activity({ entries, hasMore, isFirst, keyNames }: AccountData) {
  const last = entries.at(-1);
  return (
    <Section id="audit" title="Activity in this account">
      {entries.length > 0 ? (
        <Table labelledBy="audit" rows={entries} columns={auditColumns(keyNames)} />
      ) : (
        <Empty text={isFirst ? 'No entries yet. Start by creating a key.' : 'No older entries.'} />
      )}
      {(hasMore || !isFirst) && (
        <nav class="pager actions" aria-label="Entries">
          {!isFirst && <ButtonLink to="/dashboard/account#audit">Newest</ButtonLink>}
          {hasMore && last && <ButtonLink to={`/dashboard/account?before=${cursorOf(last)}#audit`}>Older</ButtonLink>}
        </nav>
      )}
    </Section>
  );
}

const auditColumns = (keyNames: AccountData['keyNames']): Column<AuditEntry>[] => [
  { head: 'When', at: 'line-1 right small', cell: ({ at }) => <Time at={at} /> },
  {
    head: 'What',
    at: 'line-1 left',
    cell: ({ action, about }) => (
      <>
        {words[action]}
        {about && <> {about.startsWith('ride_') ? <RideLink rideId={about} /> : about}</>}
      </>
    ),
  },
  {
    head: 'Key',
    at: 'line-2 left small breakable',
    cell: ({ keyId }) => (keyId ? <a href={keyPath(keyId)}>{keyNames.get(keyId) ?? keyId}</a> : <None />),
  },
  { head: 'Who', at: 'line-3 small breakable', cell: ({ member }) => member ?? 'the operator' },
  { head: 'From', at: 'line-2 right small', cell: ({ from }) => <code>{from}</code> },
];

/** The cursor of an entry, for a URL. */
const cursorOf = ({ at, _id }: Pick<AuditEntry, 'at' | '_id'>): string => `${at.getTime()}-${_id}`;
