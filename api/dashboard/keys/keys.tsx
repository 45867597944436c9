import type { CurrentAccount } from '../../../shared/accounts/members.ts';
import type { Context } from '../../../shared/base/context.ts';
import { countRevokedKeys, listActiveKeys, listRevokedKeys } from '../../../shared/keys/list-keys.ts';
import type { KeyFacts } from '../../../shared/keys/manage-keys.ts';
import { ridesByKey } from '../../../shared/usage/usage.ts';
import { deliveryHealth } from '../../../shared/webhooks/delivery-health.ts';
import { Empty, TableHead } from '../../../web/kit/blocks.tsx';
import { ModePill, Time } from '../../../web/kit/facts.tsx';
import {
  FailingPill,
  type FailureStreak,
  lastFour,
  RideCount,
  revokedText,
  TimeOrNever,
} from '../../../web/kit/key-parts.tsx';
import { Pager } from '../../../web/kit/lists.tsx';
import { keyPath, keysPath } from '../../../web/kit/paths.ts';
import { dashboardPage, PageHead } from '../frame.tsx';
import { type DashboardRoute, signedInRoutes } from '../page-routes.ts';

const revokedAPage = 50;

export function keysRoutes(service: Context): DashboardRoute[] {
  const { page } = signedInRoutes(service);

  return [
    page('/keys', async ({ account, owner, query }) => {
      const after = query('after') || undefined;
      const [active, found, revokedCount] = await Promise.all([
        listActiveKeys(owner),
        listRevokedKeys(owner, revokedAPage + 1, after),
        countRevokedKeys(owner),
      ]);
      const revoked = found.slice(0, revokedAPage);
      const idsOf = (keys: readonly KeyFacts[]) => keys.map(({ _id }) => _id);
      const [rides, health] = await Promise.all([
        ridesByKey(account._id, idsOf([...active, ...revoked]), service.now()),
        deliveryHealth(idsOf(active), owner),
      ]);
      const list = { active: active.reverse(), revoked, revokedCount, after, hasOlder: found.length > revokedAPage };
      return keysPage({ account, ...list, rides, health });
    }),
  ];
}

interface KeysPageProps {
  account: CurrentAccount;
  /** The active keys, newest first. */
  active: readonly KeyFacts[];
  /** One page of the revoked keys, most recently revoked first. */
  revoked: readonly KeyFacts[];
  /** The number of revoked keys. They are counted only up to `maxCountedKeys` + 1. */
  revokedCount: number;
  /** The id of the last key on the previous page of revoked keys, if there is one. */
  after?: string;
  hasOlder: boolean;
  /** The number of rides created with each key, by key id. */
  rides: ReadonlyMap<string, number>;
  /** The keys whose deliveries fail. */
  health: ReadonlyMap<string, FailureStreak>;
}

/** The account's active keys, newest first, and a page of revoked keys. */
function keysPage(props: KeysPageProps): string {
  const { account, active, revoked, revokedCount, after, hasOlder, ...facts } = props;
  return dashboardPage({
    title: 'Keys',
    account,
    section: 'keys',
    children: (
      <>
        <PageHead title="Keys" actions={active.length > 0 && <CreateKey />}>
          <p>Every request carries a key, and the key decides whether its rides are live or test.</p>
        </PageHead>
        {active.length > 0 ? (
          <KeyTable label="Active keys" keys={active} {...facts} />
        ) : (
          <Empty text={revokedCount > 0 ? 'No key is active.' : 'No keys yet. A test key costs nothing.'}>
            <CreateKey />
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

const CreateKey = () => (
  <a class="btn" href={`${keysPath}/new`}>
    Create key
  </a>
);

type KeyTableProps = Pick<KeysPageProps, 'rides' | 'health'> & {
  label: string;
  keys: readonly KeyFacts[];
  revoked?: boolean;
};

function KeyTable({ label, keys, rides, health, revoked }: KeyTableProps) {
  return (
    <table class="table keys cards" aria-label={label}>
      <TableHead
        columns={['Name', 'Mode', 'Ends in', 'Created', revoked ? 'Revoked' : 'Last used', 'Rides created']}
        numbers={['Rides created']}
      />
      <tbody>
        {keys.map((key) => (
          <tr key={key._id}>
            <td class="name">
              <span>
                <a href={keyPath(key._id)}>{key.name}</a>
                {health.has(key._id) && <FailingPill />}
              </span>
            </td>
            <td class="in-mode">
              <ModePill mode={key.mode} />
            </td>
            <td class="hint-of" data-label="Ends in">
              <code>{lastFour(key)}</code>
            </td>
            <td class="created" data-label="Created">
              <Time at={key.createdAt} />
            </td>
            <td class="used" data-label={revoked ? 'Revoked' : 'Last used'}>
              <TimeOrNever at={revoked ? key.revokedAt : key.lastUsedAt} />
            </td>
            <td class="number count" data-label="Rides created">
              <RideCount keyId={key._id} count={rides.get(key._id) ?? 0} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
