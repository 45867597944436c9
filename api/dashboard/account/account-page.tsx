import type { Account } from '../../../shared/accounts/account.ts';
import { type AuditAction, type AuditEntry, commandLine } from '../../../shared/accounts/audit.ts';
import type { Session } from '../../../shared/accounts/session-store.ts';
import { Empty, When } from '../facts.tsx';
import { ChangeForm } from '../forms.tsx';
import { dashboardPage, PageHead } from '../frame.tsx';
import { keyPath } from '../keys/paths.ts';
import { RideLink } from '../rides/ride-facts.tsx';
import { BrowserTable } from './browser-table.tsx';

interface AccountPageProps {
  account: Account;
  /** The signed-in browsers, the last used first, and which of them this is. */
  sessions: readonly Session[];
  currentId: string;
  entries: readonly AuditEntry[];
  hasMore: boolean;
  isFirst: boolean;
  /** The names that the account's keys have now, by key id. */
  keyNames: ReadonlyMap<string, string>;
  now: number;
}

const words: Record<AuditAction, string> = {
  key_created: 'created a key',
  key_renamed: 'renamed a key',
  key_rotated: 'rotated a key',
  key_revoked: 'revoked a key',
  webhook_url_set: 'changed the webhook URL',
  signing_secret_rolled: 'rolled the signing secret',
  signing_secret_viewed: 'looked at the signing secret',
  signed_in: 'signed in',
  session_ended: 'ended the session of a browser',
  signed_out_everywhere: 'signed out everywhere',
  account_suspended: 'suspended the account',
  account_resumed: 'lifted the suspension of the account',
  key_suspended: 'suspended a key',
  key_resumed: 'lifted the suspension of a key',
  ride_cancelled: 'cancelled a ride',
  ride_erased: 'erased a ride',
  events_resent: 'resent events that had failed',
  // What is done to no account's own is noted in the operator's account, which has no dashboard.
  driver_suspended: 'suspended a driver',
  driver_resumed: 'lifted the suspension of a driver',
  pool_paused: 'paused a worker pool',
  pool_resumed: 'resumed a worker pool',
  swept: 'had all jobs looked for',
};

/** The account's address, its signed-in browsers, and the list of what was done in it. */
export function accountPage(props: AccountPageProps): string {
  const { account, entries, hasMore, isFirst, now } = props;
  const last = entries.at(-1);
  return dashboardPage({
    title: 'Account',
    account,
    room: 'account',
    children: (
      <>
        <PageHead title="Account" />
        <dl class="card facts">
          <dt>E-mail</dt>
          <dd>{account.email}</dd>
          <dt>Account since</dt>
          <dd>
            <When at={account.createdAt} now={now} />
          </dd>
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
              Ends every session of this account at once, this one too. Keys continue to work. A session ends after 30
              days without use, and 90 days after sign-in at the latest.
            </p>
          </div>
        </section>
        <section class="section" aria-labelledby="audit">
          <h2 id="audit">What was done in this account</h2>
          {entries.length > 0 ? (
            <AuditTable {...props} />
          ) : (
            <Empty text={isFirst ? 'Nothing yet: creating a key is the first thing to do.' : 'Nothing older.'} />
          )}
          {(hasMore || !isFirst) && (
            <nav class="pager" aria-label="Entries">
              {!isFirst && (
                <a class="btn second" href="/dashboard/account#audit">
                  Newest
                </a>
              )}
              {hasMore && last && (
                <a class="btn second" href={`/dashboard/account?before=${positionOf(last)}#audit`}>
                  Older
                </a>
              )}
            </nav>
          )}
        </section>
      </>
    ),
  });
}

function AuditTable({ account, entries, keyNames, now }: AccountPageProps) {
  return (
    <table class="table" aria-labelledby="audit">
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">What</th>
          <th scope="col">Key</th>
          <th scope="col">Who</th>
          <th scope="col">From</th>
        </tr>
      </thead>
      <tbody>
        {entries.map(({ _id, at, action, keyId, about, from }) => (
          <tr key={_id}>
            <td data-label="When">
              <When at={at} now={now} />
            </td>
            <td data-label="What">
              {words[action]}
              {about && (
                <>
                  {' '}
                  <RideLink rideId={about} />
                </>
              )}
            </td>
            <td data-label="Key" class="breakable">
              {keyId ? <a href={keyPath(keyId)}>{keyNames.get(keyId) ?? keyId}</a> : <span class="quiet">none</span>}
            </td>
            <td data-label="Who" class="breakable">
              {from === commandLine ? 'the operator' : account.email}
            </td>
            <td data-label="From">
              <code>{from}</code>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Where an entry stands in the list, as it stands in a URL. */
const positionOf = ({ at, _id }: Pick<AuditEntry, 'at' | '_id'>): string => `${at.getTime()}-${_id}`;

/** The entry that a page of the list follows; undefined for the first page. */
export function entryAfter(position: string): Pick<AuditEntry, 'at' | '_id'> | undefined {
  const [, ms, _id] = /^(\d{1,15})-(audit_[0-9A-Za-z]+)$/.exec(position) ?? [];
  return ms && _id ? { at: new Date(Number(ms)), _id } : undefined;
}
