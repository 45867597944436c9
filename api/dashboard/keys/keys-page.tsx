import type { Account } from '../../../shared/accounts/account.ts';
import type { KeyFacts } from '../../../shared/keys/manage-keys.ts';
import { countText, Empty, ModePill, When } from '../facts.tsx';
import { dashboardPage, PageHead } from '../frame.tsx';
import type { Failing } from './failing.tsx';
import { FailingPill } from './failing.tsx';
import { keyPath, keysPath, ridesPath } from './paths.ts';

interface KeysPageProps {
  account: Account;
  keys: readonly KeyFacts[];
  /** Rides created by key id. */
  rides: ReadonlyMap<string, number>;
  /** The keys whose deliveries fail. */
  health: ReadonlyMap<string, Failing>;
  now: number;
}

/** The list of the account's keys, newest first, those that were revoked apart. */
export function keysPage({ account, keys, ...facts }: KeysPageProps): string {
  const active = keys.filter(({ revokedAt }) => !revokedAt);
  const revoked = keys.filter(({ revokedAt }) => revokedAt);
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
          <Empty text={revoked.length > 0 ? 'No key is active.' : 'No keys yet. A test key costs nothing.'}>
            <NewKey />
          </Empty>
        )}
        {revoked.length > 0 && (
          <details class="section">
            <summary>Revoked keys ({countText(revoked.length)})</summary>
            <KeyTable label="Revoked keys" keys={revoked} {...facts} revoked />
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

type KeyTableProps = Omit<KeysPageProps, 'account'> & { label: string; revoked?: boolean };

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

export const lastFour = ({ hint }: Pick<KeyFacts, 'hint'>): string => `…${hint.slice(-4)}`;

export const Moment = ({ at, now }: { at?: Date; now: number }) =>
  at ? <When at={at} now={now} /> : <span class="quiet">never</span>;

export const RideCount = ({ keyId, count }: { keyId: string; count: number }) =>
  count > 0 ? <a href={ridesPath(keyId)}>{countText(count)}</a> : <span class="quiet">0</span>;
