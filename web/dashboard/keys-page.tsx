import { countRevokedKeys, listActiveKeys, listRevokedKeys } from '../../shared/keys/list-keys.ts';
import type { KeyFacts } from '../../shared/keys/manage-keys.ts';
import { ridesByKey } from '../../shared/usage/usage-summary.ts';
import { deliveryHealth } from '../../shared/webhooks/delivery-health.ts';
import { ButtonLink, Empty } from '../kit/blocks.tsx';
import { ModePill, Time } from '../kit/facts.tsx';
import { FailingPill, type FailureStreak, lastFour, RideCount, revokedText, TimeOrNever } from '../kit/key-parts.tsx';
import { Pager } from '../kit/lists.tsx';
import { page } from '../kit/page.tsx';
import { keyPath, keysPath } from '../kit/paths.ts';
import { builders } from '../kit/roles.ts';
import { type Column, Table } from '../kit/table.tsx';

const revokedAPage = 50;

/** The account's active keys, newest first, and a page of the revoked keys, most recently revoked first. */
export const keys = page('/keys', {
  section: 'keys',
  entry: 'Keys',
  roles: builders,
  async read({ account, owner, query, service }) {
    const after = query('after') || undefined;
    const [active, found, revokedCount] = await Promise.all([
      listActiveKeys(owner),
      listRevokedKeys(owner, revokedAPage + 1, after),
      countRevokedKeys(owner),
    ]);
    const revoked = found.slice(0, revokedAPage);
    const idsOf = (listed: readonly KeyFacts[]) => listed.map(({ _id }) => _id);
    const [rides, health] = await Promise.all([
      ridesByKey(account._id, idsOf([...active, ...revoked]), service.now()),
      deliveryHealth(idsOf(active), owner),
    ]);
    const last = found.length > revokedAPage ? revoked.at(-1)?._id : undefined;
    return { active: active.reverse(), revoked, revokedCount, after, last, rides, health };
  },
  view: ({ active, revoked, revokedCount, after, last, ...facts }) => ({
    title: 'Keys',
    lead: <p>Every request carries a key, and the key decides whether its rides are live or test.</p>,
    actions: active.length > 0 && <CreateKey />,
    children: (
      <>
        {active.length > 0 ? (
          <Table label="Active keys" rows={active} columns={keyColumns(facts)} />
        ) : (
          <Empty text={revokedCount > 0 ? 'No key is active.' : 'No keys yet. A test key costs nothing.'}>
            <CreateKey />
          </Empty>
        )}
        {revokedCount > 0 && (
          <details class="section" id="revoked" open={after !== undefined}>
            <summary>Revoked keys ({revokedText(revokedCount)})</summary>
            {revoked.length > 0 && (
              <Table label="Revoked keys" rows={revoked} columns={keyColumns({ ...facts, areRevoked: true })} />
            )}
            <Pager path={keysPath} values={{}} after={after} last={last} />
          </details>
        )}
      </>
    ),
  }),
});

const CreateKey = () => (
  <ButtonLink to={`${keysPath}/new`} first>
    Create key
  </ButtonLink>
);

interface Facts {
  /** The number of rides created with each key, by key id. */
  rides: ReadonlyMap<string, number>;
  /** The keys whose deliveries fail. */
  health: ReadonlyMap<string, FailureStreak>;
  areRevoked?: boolean;
}

const keyColumns = ({ rides, health, areRevoked }: Facts): Column<KeyFacts>[] => [
  { head: 'Name', at: 'name line-1 left', cell: (key) => <Name {...key} isFailing={health.has(key._id)} /> },
  { head: 'Mode', at: 'line-1 right', cell: ({ mode }) => <ModePill mode={mode} /> },
  { head: 'Ends in', at: 'line-2 left small', label: true, cell: (key) => <code>{lastFour(key)}</code> },
  { head: 'Created', at: 'line-4 left small', label: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    head: areRevoked ? 'Revoked' : 'Last used',
    at: 'line-3 left small',
    label: true,
    cell: ({ revokedAt, lastUsedAt }) => <TimeOrNever at={areRevoked ? revokedAt : lastUsedAt} />,
  },
  {
    head: 'Rides created',
    at: 'line-2 right small',
    label: true,
    number: true,
    cell: ({ _id }) => <RideCount keyId={_id} count={rides.get(_id) ?? 0} />,
  },
];

const Name = ({ _id, name, isFailing }: KeyFacts & { isFailing: boolean }) => (
  <span>
    <a href={keyPath(_id)}>{name}</a>
    {isFailing && <FailingPill />}
  </span>
);
