import type { Account } from '../../../shared/accounts/account.ts';
import type { Context } from '../../../shared/base/context.ts';
import { type ListedRide, listRides } from '../../../shared/rides/list-rides.ts';
import { rideStatuses } from '../../../shared/rides/ride-types.ts';
import { Empty, TableHead } from '../blocks.tsx';
import { countText, KeyName, moneyText, None, RideLink, StatusPill, statusLabels, When } from '../facts.tsx';
import { ChoiceField, FaultSummary } from '../forms.tsx';
import { dashboardPage, PageHead } from '../frame.tsx';
import {
  FilterForm,
  FindById,
  isFiltered,
  keysOfRows,
  type ListedKey,
  type ListFilters,
  oneOf,
  Pager,
  pathOfId,
  readFilters,
} from '../lists.tsx';
import { type DashboardRoute, signedInRoutes } from '../page-routes.ts';
import { ridesPath } from '../paths.ts';

const pageSize = 50;
const modes = ['live', 'test'] as const;

export function ridesRoutes(service: Context): DashboardRoute[] {
  const { page } = signedInRoutes(service);

  return [
    page('/rides', async (request) => {
      const { account, owner, query } = request;
      const filters = await readFilters(request, ['status', 'mode']);
      const { key, from, to, faults, values } = filters;
      const id = query('id').trim();
      const path = id && (await pathOfId(id, owner));
      if (path) return { redirectTo: path };
      const hasFaults = Object.keys(faults).length > 0;
      const status = oneOf(rideStatuses, values.status);
      const mode = oneOf(modes, values.mode);
      const after = query('after');
      const isEmpty = hasFaults || (key && mode && key.mode !== mode);
      const found = isEmpty
        ? { rides: [], hasOlder: false }
        : await listRides({ keyId: key?._id, mode, status, from, to, after: after || undefined }, pageSize, owner);
      const rowKeys = await keysOfRows(found.rides, request);
      const html = ridesPage({ account, filters, ...found, keys: rowKeys, after, id, now: service.now() });
      return { html, status: hasFaults || id ? 422 : 200 };
    }),
  ];
}

interface RidesPageProps {
  account: Account;
  filters: ListFilters;
  rides: readonly ListedRide[];
  /** The keys of the rides. */
  keys: readonly ListedKey[];
  hasOlder: boolean;
  /** The id of the last ride on the previous page, if there is one. */
  after?: string;
  /** The id for which a search found nothing. */
  id?: string;
  now: number;
}

function ridesPage({ account, filters, rides, keys, hasOlder, after, id, now }: RidesPageProps): string {
  const { values, key, faults } = filters;
  const isFaulty = Object.keys(faults).length > 0;
  const notFound = id && 'No ride, event or attempt of this account has this id. Check that the id is complete.';
  return dashboardPage({
    title: 'Rides',
    account,
    section: 'rides',
    test: values.mode === 'test' || key?.mode === 'test',
    hasErrors: isFaulty || Boolean(notFound),
    children: (
      <>
        <PageHead title="Rides" actions={<FindById value={id} fault={notFound} />} />
        <FaultSummary faults={faults} title="Filters not applied" />
        {notFound && <FaultSummary faults={{ id: notFound }} title="Not found" />}
        <FilterForm path={ridesPath} filters={filters}>
          <ChoiceField
            name="status"
            label="Status"
            value={values.status}
            options={[['', 'All statuses'], ...rideStatuses.map((status) => [status, statusLabels[status]] as const)]}
          />
          <ChoiceField
            name="mode"
            label="Mode"
            value={values.mode}
            options={[
              ['', 'Live and test'],
              ['live', 'Live'],
              ['test', 'Test'],
            ]}
          />
        </FilterForm>
        {!isFaulty && rides.length === 0 && <NoRides filters={filters} after={after} />}
        {rides.length > 0 && <RidesTable rides={rides} keys={keys} now={now} />}
        <Pager path={ridesPath} values={values} after={after} last={hasOlder ? rides.at(-1)?._id : undefined} />
      </>
    ),
  });
}

function NoRides({ filters, after }: { filters: ListFilters; after?: string }) {
  if (after) return <Empty text="No older rides." />;
  if (isFiltered(filters)) {
    return (
      <Empty text="No ride matches these filters.">
        <a class="btn second" href={ridesPath}>
          Show all rides
        </a>
      </Empty>
    );
  }
  if (filters.keys.length === 0) {
    return (
      <Empty text="A ride appears here as soon as one of your keys creates it.">
        <a class="btn" href="/dashboard/keys">
          Create a key
        </a>
      </Empty>
    );
  }
  return (
    <Empty text="A ride appears here as soon as one of your keys creates it. A test ride takes 15 seconds.">
      <a class="btn" href="/dashboard/console">
        Start a test ride
      </a>
    </Empty>
  );
}

function RidesTable({ rides, keys, now }: { rides: readonly ListedRide[]; keys: readonly ListedKey[]; now: number }) {
  const keysById = new Map(keys.map((key) => [key._id, key]));
  return (
    <div class="scroll">
      <table class="table rides">
        <TableHead
          columns={['Ride', 'Created (UTC)', 'Status', 'Fare', 'Agreed', 'Offers', 'Events', 'Key']}
          numbers={['Fare', 'Agreed', 'Offers']}
        />
        <tbody>
          {rides.map((ride) => (
            <tr key={ride._id}>
              <td data-label="Ride">
                <RideLink rideId={ride._id} />
              </td>
              <td data-label="Created">
                <When inUtc at={ride.createdAt} now={now} />
              </td>
              <td data-label="Status">
                <StatusPill status={ride.status} />
              </td>
              <td data-label="Fare" class="number">
                {moneyText(ride.fare)}
              </td>
              <td data-label="Agreed" class="number">
                {ride.agreedPrice === undefined ? <None /> : moneyText(ride.agreedPrice)}
              </td>
              <td data-label="Offers" class="number">
                {countText(ride.offersCount)}
              </td>
              <td data-label="Events">
                {ride.missedCount > 0 ? <Missed ride={ride} /> : <span class="quiet">{countText(ride.seq)}</span>}
              </td>
              <td data-label="Key" class="key">
                <KeyName keyId={ride.keyId} name={keysById.get(ride.keyId)?.name} mode={ride.mode} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The number of the ride's events that did not arrive. */
function Missed({ ride }: { ride: ListedRide }) {
  return (
    <span class="pill" data-status="failed">
      {ride.missedCount} failed
    </span>
  );
}
