import type { ListedRide } from '../../shared/rides/list-rides.ts';
import { placeText } from '../../shared/rides/place-text.ts';
import { moneyText, StatusPill, Time } from '../kit/facts.tsx';
import { consoleRidePath, ridesPath } from '../kit/paths.ts';
import { type Column, Table } from '../kit/table.tsx';

/** The newest test rides, each with a link to its page in the console. */
export function RecentRides({ rides }: { rides: readonly ListedRide[] }) {
  if (rides.length === 0) return null;
  return (
    <section class="section" aria-labelledby="recent">
      <div class="apart">
        <h2 id="recent">Recent test rides</h2>
        <a href={`${ridesPath}?mode=test`}>All test rides</a>
      </div>
      <Table labelledBy="recent" rows={rides} columns={columns} />
    </section>
  );
}

const columns: Column<ListedRide>[] = [
  {
    head: 'Ride',
    at: 'name plain line-1 left',
    cell: (ride) => <a href={consoleRidePath(ride._id)}>{ride.passenger?.name || ride.reference || tripText(ride)}</a>,
  },
  { head: 'Status', at: 'line-2 first', cell: ({ status }) => <StatusPill status={status} /> },
  { head: 'Price', at: 'line-1 right', number: true, cell: (ride) => moneyText(ride.agreedPrice ?? ride.fare) },
  { head: 'Created', at: 'line-2 right small', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

const tripText = ({ pickup, destination }: ListedRide): string => `${placeText(pickup)} to ${placeText(destination)}`;
