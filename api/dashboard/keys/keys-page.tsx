import type { Account } from '../../../shared/accounts/account.ts';
import { mostCounted } from '../../../shared/keys/list-keys.ts';
import type { KeyFacts } from '../../../shared/keys/manage-keys.ts';
import { countText, Empty, ModePill, When } from '../facts.tsx';
import { dashboardPage, PageHead } from '../frame.tsx';
import { Pager } from '../rides/pager.tsx';
import type { Failing } from './failing.tsx';
import { FailingPill } from './failing.tsx';
import { keyPath, keysPath, ridesPath } from './paths.ts';

interface KeysPageProps {
  account: Account;
  /** Newest first. */
  active: readonly KeyFacts[];
  /** A page of them, the one revoked last first. */
  revoked: readonly KeyFacts[];
  /** The number of revoked keys, counted up to `mostCounted` + 1. */
  revokedCount: number;
  /** The id of the last key of the page before, where this page of revoked keys is not the first. */
  after?: string;
  hasOlder: boolean;
  /** Rides created by key id. */
  rides: ReadonlyMap<string, number>;
  /** The keys whose deliveries fail. */
  health: ReadonlyMap<string, Failing>;
  now: number;
}

/** The account's keys, newest first, and a page of those that were revoked. */
export function keysPage(props: KeysPageProps): string {
  const { account, active, revoked, revokedCount, after, hasOlder, ...facts } = props;
  return dashboardPage({
    title: 'Keys',
    account,
    room: 'keys',
    children: (
      <>
        <PageHead title="Keys" actions={active.length > 0 && <NewKey />}>
          <p>Every request carries a key, and the key decides whether its rides are live or test.</p>
        </PageHead>
        {active.length > 0 ? (
          <KeyTable label="Active keys" keys={active} {...facts} />
        ) : (
          <Empty text={revokedCount > 0 ? 'No key is active.' : 'No keys yet. A test key costs nothing.'}>
            <NewKey />
          </Empty>
        )}
        {revokedCount > 0 && (
          <details class="section" id="revoked" open={after !== undefined}>
            <summary>Revoked keys ({revokedText(revokedCount)})</summary>
            {revoked.length > 0 && <KeyTable label="Revoked keys" keys={revoked} {...facts} revoked />}
            <Pager path={keysPath} values={{}} after={after} last={hasOlder ? revoked.at(-1)?._id : undefined} />
          </details>
        )}
      </>
    ),
  });
}

const NewKey = () => (
  <a class="btn" href={`${keysPath}/new`}>
    New key
  </a>
);

type KeyTableProps = Pick<KeysPageProps, 'rides' | 'health' | 'now'> & {
  label: string;
  keys: readonly KeyFacts[];
  revoked?: boolean;
};

function KeyTable({ label, keys, rides, health, now, revoked }: KeyTableProps) {
  return (
    <table class="table keys" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Mode</th>
          <th scope="col">Ends in</th>
          <th scope="col">Created</th>
          <th scope="col">{revoked ? 'Revoked' : 'Last used'}</th>
          <th scope="col" class="number">
            Rides created
          </th>
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <tr key={key._id}>
            <td class="name">
              <span>
                <a href={keyPath(key._id)}>{key.name}</a>
                {health.has(key._id) && <FailingPill />}
              </span>
            </td>
            <td data-label="Mode">
              <ModePill mode={key.mode} />
            </td>
            <td data-label="Ends in">
              <code>{lastFour(key)}</code>
            </td>
            <td data-label="Created">
              <When at={key.createdAt} now={now} />
            </td>
            <td data-label={revoked ? 'Revoked' : 'Last used'}>
              <Moment at={revoked ? key.revokedAt : key.lastUsedAt} now={now} />
            </td>
            <td class="number" data-label="Rides created">
              <RideCount keyId={key._id} count={rides.get(key._id) ?? 0} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export const revokedText = (count: number): string =>
  count > mostCounted ? `over ${countText(mostCounted)}` : countText(count);

export const lastFour = ({ hint }: Pick<KeyFacts, 'hint'>): string => `…${hint.slice(-4)}`;

export const Moment = ({ at, now }: { at?: Date; now: number }) =>
  at ? <When at={at} now={now} /> : <span class="quiet">never</span>;

export const RideCount = ({ keyId, count }: { keyId: string; count: number }) =>
  count > 0 ? <a href={ridesPath(keyId)}>{countText(count)}</a> : <span class="quiet">0</span>;
