import type { CurrentAccount } from '../../shared/accounts/members.ts';
import { zoneAt } from '../../shared/base/place-zone.ts';
import { timeOf } from '../../shared/rides/events.ts';
import { placeText } from '../../shared/rides/place-text.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { stepsOf } from '../../shared/rides/steps.ts';
import type { Document } from '../kit/answer.ts';
import { ButtonLink, Facts } from '../kit/blocks.tsx';
import { moneyText, Time, ZonedTime } from '../kit/facts.tsx';
import { page } from '../kit/page.tsx';
import { ridePath } from '../kit/paths.ts';
import { ownRide } from '../kit/ride-parts.tsx';
import { bookers } from '../kit/roles.ts';

/** The receipt of a ride, made for one printed page. */
export const receipt = page('/rides/:rideId/receipt', {
  section: 'rides',
  roles: bookers,
  find: ownRide,
  read: ({ account }, ride) => ({ account, ride }),
  view: receiptView,
});

interface ReceiptData {
  account: CurrentAccount;
  ride: Ride;
}

function receiptView({ account, ride }: ReceiptData): Document {
  const isPaid = ride.status === 'completed';
  return {
    title: 'Receipt',
    test: ride.mode === 'test',
    scripts: ['statement.browser.js'],
    around: (content) => <article class="receipt flow">{content}</article>,
    actions: (
      <>
        {isPaid && (
          <button type="button" class="btn" data-print hidden>
            Print
          </button>
        )}
        <ButtonLink to={ridePath(ride._id)}>Back to the ride</ButtonLink>
      </>
    ),
    children: (
      <>
        {ride.erasedAt && (
          <p class="notice">
            <span>
              The personal data of this ride was erased on <Time at={ride.erasedAt} form="date" />. The places are kept
              to about a kilometre.
            </span>
          </p>
        )}
        {isPaid ? <Paid account={account} ride={ride} /> : <p class="notice">{unpaidText(ride)}</p>}
      </>
    ),
  };
}

const unpaidText = ({ status }: Ride): string =>
  status === 'cancelled'
    ? 'This ride was cancelled, so it has no receipt.'
    : 'This ride is not completed yet. Its receipt is here as soon as it is.';

function Paid({ account, ride }: ReceiptData) {
  const { passenger, reference, pickup, destination, driver, agreedPrice, fare, distanceKm, mode } = ride;
  const startedAt = startOf(ride);
  const zone = zoneAt(pickup);
  const placeAt = (place: Ride['pickup'], at?: Date) => (
    <>
      {placeText(place)}
      {at && (
        <span class="sub">
          <ZonedTime at={at} zone={zone} />
        </span>
      )}
    </>
  );
  return (
    <>
      {mode === 'test' && <p class="notice">A test ride: nobody drove, and nothing was paid.</p>}
      <p class="sum">{moneyText(agreedPrice ?? fare)}</p>
      <Facts
        class="card facts"
        of={[
          ['Passenger', passenger?.name],
          ['Reference', reference],
          ['From', placeAt(pickup, startedAt)],
          ['To', placeAt(destination, ride.statusAt)],
          ['Distance', `${distanceKm.toFixed(1)} km`],
          ['Driver', driver && `${driver.name.trim().split(/\s+/)[0]}, ${driver.vehicle}`],
          ['Account', account.name],
          ['Ride', <code>{ride._id}</code>],
        ]}
      />
    </>
  );
}

/** The start of the trip. */
function startOf({ createdAt, status, events }: Ride): Date | undefined {
  const statusesAt = events.filter(({ event }) => event === 'ride.status').map(timeOf);
  return stepsOf({ createdAt, status, statusesAt }).find((step) => step.status === 'in_progress')?.at;
}
