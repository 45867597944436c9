import type { ListedRide } from '../../shared/rides/list-rides.ts';
import { placeText } from '../../shared/rides/place-text.ts';
import { hasEnded } from '../../shared/rides/transitions.ts';
import { TableHead } from './blocks.tsx';
import { KeyName, moneyText, StatusPill, shortId, Time } from './facts.tsx';
import type { ListedKey } from './lists.tsx';
import { ridePath } from './paths.ts';
import { nameOf } from './ride-words.ts';

/**
 * Rides as a table, with what people call the ride first and its id last. On a phone each ride is a card of three
 * lines, which is one link.
 */
export function RidesTable({
  name,
  rides,
  keys,
  label,
}: {
  /** Distinguishes the tables of a page. */
  name: string;
  rides: readonly ListedRide[];
  /** The keys of the rides. */
  keys: readonly ListedKey[];
  label: string;
}) {
  const keysById = new Map(keys.map((key) => [key._id, key]));
  return (
    <table class="table rides cards" aria-label={label}>
      <TableHead
        columns={['Passenger', 'From and to', 'Status', 'Created', 'Price', 'Key and id']}
        numbers={['Price']}
      />
      <tbody>
        {rides.map((ride) => (
          <tr key={ride._id} id={`${name}-${ride._id}`}>
            <td class="called breakable line-1 left">
              <Who ride={ride} />
            </td>
            <td class="trip breakable line-2">
              <span class="way-from">
                <span class="spoken">From </span>
                {placeText(ride.pickup)}
              </span>{' '}
              <span class="way-to">
                <span class="spoken">to </span>
                {placeText(ride.destination)}
              </span>
            </td>
            <td class="line-3 first">
              <StatusPill status={ride.status} /> {ride.missed.length > 0 && <Missed ride={ride} />}
              <Scheduled ride={ride} />
            </td>
            <td class="at line-3 right">
              <Time at={ride.createdAt} />
            </td>
            <td class="number price line-1 right">
              {moneyText(ride.agreedPrice ?? ride.fare)}
              <span class="sub">{ride.agreedPrice === undefined ? 'proposed' : 'agreed'}</span>
            </td>
            <td class="ids breakable line-3 middle">
              <KeyName keyId={ride.keyId} name={keysById.get(ride.keyId)?.name} mode={ride.mode} />
              <code class="sub nowrap" title={ride._id}>
                {shortId(ride._id)}
              </code>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

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

/** The pickup time of a ride for later, until its trip begins. */
function Scheduled({ ride: { pickupAt, status } }: { ride: ListedRide }) {
  if (!pickupAt || hasEnded(status) || status === 'in_progress') return null;
  return (
    <span class="sub">
      Scheduled for <Time at={pickupAt} />
    </span>
  );
}

/** The number of the ride's events that did not arrive, also not with a resend. */
function Missed({ ride }: { ride: ListedRide }) {
  return (
    <span class="pill" data-status="failed">
      {ride.missed.length} failed
    </span>
  );
}
