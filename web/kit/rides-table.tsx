import type { ListedRide } from '../../shared/rides/list-rides.ts';
import { placeText } from '../../shared/rides/place-text.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { hasEnded } from '../../shared/rides/transitions.ts';
import { KeyName, moneyText, Pill, StatusPill, shortId, Time } from './facts.tsx';
import type { ListedKey } from './lists.tsx';
import { ridePath } from './paths.ts';
import { nameOf } from './ride-words.ts';
import { type Column, Table } from './table.tsx';

interface RidesTableProps {
  /** Distinguishes the tables of a page. */
  name: string;
  rides: readonly ListedRide[];
  /** The keys of the rides. */
  keys: readonly ListedKey[];
  label: string;
}

/**
 * Rides as a table, with what people call the ride first and its id last. On a phone each ride is a card of three
 * lines, which is one link.
 */
export const RidesTable = ({ name, rides, keys, label }: RidesTableProps) => (
  <Table class="rides" label={label} rows={rides} columns={rideColumns(keys)} idOf={({ _id }) => `${name}-${_id}`} />
);

function rideColumns(keys: readonly ListedKey[]): Column<ListedRide>[] {
  const names = new Map(keys.map((key) => [key._id, key.name]));
  return [
    { head: 'Passenger', at: 'called breakable line-1 left', cell: (ride) => <Who ride={ride} /> },
    { head: 'From and to', at: 'trip breakable line-2', cell: (ride) => <Way {...ride} /> },
    { head: 'Status', at: 'line-3 first', cell: (ride) => <Status ride={ride} /> },
    { head: 'Created', at: 'at line-3 right', cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      head: 'Price',
      at: 'price line-1 right',
      number: true,
      cell: ({ agreedPrice, fare }) => (
        <>
          {moneyText(agreedPrice ?? fare)}
          <span class="sub">{agreedPrice === undefined ? 'proposed' : 'agreed'}</span>
        </>
      ),
    },
    {
      head: 'Key and id',
      at: 'ids breakable line-3 middle',
      cell: ({ _id, keyId, mode }) => (
        <>
          <KeyName keyId={keyId} name={names.get(keyId)} mode={mode} />
          <code class="sub nowrap" title={_id}>
            {shortId(_id)}
          </code>
        </>
      ),
    },
  ];
}

/** Pickup and destination, with the marks of the map. */
const Way = ({ pickup, destination }: Pick<Ride, 'pickup' | 'destination'>) => (
  <>
    <span class="way-from">
      <span class="spoken">From </span>
      {placeText(pickup)}
    </span>{' '}
    <span class="way-to">
      <span class="spoken">to </span>
      {placeText(destination)}
    </span>
  </>
);

function Who({ ride }: { ride: ListedRide }) {
  const { passenger, reference } = ride;
  const hasName = Boolean(passenger?.name || reference);
  return (
    <>
      <a class={hasName ? undefined : 'unnamed'} href={ridePath(ride._id)}>
        {nameOf(ride)}
        {!hasName && <span class="spoken">, ride {shortId(ride._id)}</span>}
      </a>
      {passenger?.name && reference && <span class="sub">{reference}</span>}
    </>
  );
}

/** With the number of events that did not arrive, also not with a resend; with the pickup time until the trip begins. */
function Status({ ride: { pickupAt, status, missed } }: { ride: ListedRide }) {
  const isAhead = !hasEnded(status) && status !== 'in_progress';
  return (
    <>
      <StatusPill status={status} /> {missed.length > 0 && <Pill status="failed">{missed.length} failed</Pill>}
      {pickupAt && isAhead && (
        <span class="sub">
          Scheduled for <Time at={pickupAt} />
        </span>
      )}
    </>
  );
}
