import { type ListedRide, listRides, type RideFilter } from '../../shared/rides/list-rides.ts';
import { rideStatuses, underWay } from '../../shared/rides/ride-types.ts';
import { searchRides } from '../../shared/rides/search-rides.ts';
import { searchWords, squeezed } from '../../shared/rides/search-terms.ts';
import { withoutResent } from '../../shared/webhooks/undelivered.ts';
import type { Document, PageRequest } from '../kit/answer.ts';
import { Empty } from '../kit/blocks.tsx';
import { counted, statusLabels } from '../kit/facts.tsx';
import { ChoiceField, FaultSummary } from '../kit/forms.tsx';
import {
  FilterForm,
  isFiltered,
  keysOfRows,
  type ListedKey,
  type ListFilters,
  oneOf,
  Pager,
  readFilters,
  SearchInput,
} from '../kit/lists.tsx';
import { page } from '../kit/page.tsx';
import { keysPath, ridePath, ridesPath } from '../kit/paths.ts';
import { RidesTable } from '../kit/rides-table.tsx';
import { bookers } from '../kit/roles.ts';
import { IfMay } from '../kit/viewer.tsx';
import { isId, pathOfId } from './path-of-id.ts';

const pageSize = 50;
const modes = ['live', 'test'] as const;

const statusFilters = ['under_way', ...rideStatuses] as const;

/** A page of rides. `next` is the id after which the next page starts. */
interface FoundRides {
  rides: ListedRide[];
  next?: string;
}

/** The account's rides, with a search and filters. An id, or the reference of one ride, leads to its page. */
export const rides = page('/rides', {
  section: 'rides',
  entry: 'Rides',
  roles: bookers,
  find: findRides,
  leave: (found) => 'to' in found && found.to,
  read: (_, found) => found as RidesData,
  view: ridesView,
});

async function findRides(request: PageRequest): Promise<RidesData | { to: string }> {
  const { owner, query, service } = request;
  const filters = await readFilters(request, ['q', 'status', 'mode']);
  // The search field of the deliveries sends an id.
  const text = filters.values.q || query('id').trim();
  filters.values.q = text;
  const path = isId(text) && (await pathOfId(text, owner));
  if (path) return { to: path };
  const after = query('after');
  const found = await ridesWith(filters, after, owner);
  const only = found.rides.length === 1 && !after && !found.next ? found.rides[0] : undefined;
  if (only?.reference && squeezed(only.reference) === squeezed(text)) return { to: ridePath(only._id) };
  const [keys, rides] = await Promise.all([keysOfRows(found.rides, request), withoutResent(found.rides, owner)]);
  const isUnknownId = isId(text) && found.rides.length === 0;
  return { filters, ...found, rides, keys, after, isUnknownId, eraseDays: service.config.retention.eraseDays };
}

async function ridesWith(filters: ListFilters, after: string, owner: PageRequest['owner']): Promise<FoundRides> {
  const { key, from, to, faults, values } = filters;
  const mode = oneOf(modes, values.mode);
  if (Object.keys(faults).length > 0 || (key && mode && key.mode !== mode)) return { rides: [] };
  const chosen = oneOf(statusFilters, values.status);
  const status = chosen === 'under_way' ? underWay : chosen;
  const filter: RideFilter = { keyId: key?._id, mode, status, from, to, after: after || undefined };
  if (values.q) return searchRides(searchWords(values.q), filter, pageSize, owner);
  const { rides, hasOlder } = await listRides(filter, pageSize, owner);
  return { rides, next: hasOlder ? rides.at(-1)?._id : undefined };
}

interface RidesData extends FoundRides {
  filters: ListFilters;
  /** The keys of the rides. */
  keys: readonly ListedKey[];
  /** The id of the last ride on the previous page, if there is one. */
  after?: string;
  /** The text in the search field has the form of an id, and belongs to nothing of this account. */
  isUnknownId: boolean;
  /** The days after which a ride cannot be found by its texts. */
  eraseDays: number;
}

function ridesView(data: RidesData): Document {
  const { filters, rides, keys, next, after, isUnknownId } = data;
  const { values, key, faults } = filters;
  const isFaulty = Object.keys(faults).length > 0;
  const notFound = isUnknownId
    ? 'No ride, event or attempt of this account has this id. Check that the id is complete.'
    : undefined;
  const search = (
    <div class="search">
      <SearchInput
        name="q"
        type="search"
        label="Search rides"
        placeholder="Reference, passenger, address or id"
        button="Search"
        maxLength={200}
        value={values.q}
        fault={notFound}
      />
    </div>
  );
  return {
    title: 'Rides',
    test: values.mode === 'test' || key?.mode === 'test',
    hasErrors: isFaulty || isUnknownId,
    children: (
      <>
        {/* Always there: the form keeps its focus only while its siblings stay (browser/patch.ts). */}
        <div>
          <FaultSummary faults={faults} title="Filters not applied" />
          {notFound && <FaultSummary faults={{ q: notFound }} title="Not found" />}
        </div>
        <FilterForm path={ridesPath} filters={filters} search={search}>
          <ChoiceField
            name="status"
            label="Status"
            value={values.status}
            options={[
              ['', 'All statuses'],
              ['under_way', 'under way'],
              ...rideStatuses.map((status) => [status, statusLabels[status]] as const),
            ]}
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
        <p class="spoken" role="status">
          {next ? `${counted(rides.length, 'ride')}, older ones follow` : counted(rides.length, 'ride')}
        </p>
        {!isFaulty && rides.length === 0 && <NoRides {...data} />}
        {rides.length > 0 && <RidesTable name="list" rides={rides} keys={keys} label="Rides" />}
        <Pager path={ridesPath} values={values} after={after} last={next} />
      </>
    ),
  };
}

function NoRides({ filters, after, next, eraseDays }: RidesData) {
  const { q } = filters.values;
  // Every word is on many rides, and none of the newest ones has all of them (search-rides.ts).
  if (next) return <Empty text="None of the newest rides with these words matches. “Older” searches further." />;
  if (after) return <Empty text="No older rides." />;
  const all = (
    <a class="btn second" href={ridesPath}>
      Show all rides
    </a>
  );
  if (q) {
    return (
      <Empty
        text={`No ride matches “${q}”. The search compares whole words of reference, passenger and addresses. They are erased ${eraseDays} days after a ride has ended; then only its id finds the ride.`}
      >
        {all}
      </Empty>
    );
  }
  if (isFiltered(filters)) return <Empty text="No ride matches these filters.">{all}</Empty>;
  if (filters.keys.length === 0) {
    return (
      <Empty text="A ride appears here as soon as one of your keys creates it.">
        <IfMay route="GET /keys/new">
          <a class="btn" href={`${keysPath}/new`}>
            Create key
          </a>
        </IfMay>
      </Empty>
    );
  }
  return (
    <Empty text="A ride appears here as soon as one of your keys creates it. A test ride takes 15 seconds.">
      <IfMay route="GET /console">
        <a class="btn" href="/dashboard/console">
          Start a test ride
        </a>
      </IfMay>
    </Empty>
  );
}
