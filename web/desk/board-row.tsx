import { isolated } from '../../shared/base/shown-text.ts';
import type { BoardRide } from '../../shared/rides/board-rides.ts';
import { mostNotes } from '../../shared/rides/driver-notes.ts';
import { waitsToOpen } from '../../shared/rides/opening.ts';
import type { Offer } from '../../shared/rides/ride-types.ts';
import { isMoving } from '../../shared/rides/transitions.ts';
import { moneyText, StatusPill, Time } from '../kit/facts.tsx';
import { FormId } from '../kit/forms.tsx';
import { deskPath, ridePath } from '../kit/paths.ts';
import { Phone, rideName, TripText } from '../kit/ride-parts.tsx';
import { ratingText } from '../kit/ride-words.ts';
import type { PlacedRide } from './board-order.ts';

/** One ride of the board. Everyone who has the board open receives the same HTML. */
export function BoardRow({ row, stamp, link }: { row: PlacedRide; stamp: string; link: string }) {
  const { ride, concern } = row;
  const { status, reference, passenger, helpAskedAt } = ride;
  const id = rowId(ride);
  return (
    <li id={id} class="board-ride" data-stamp={stamp} data-concern={concern?.kind}>
      <div class="apart">
        <h4 id={`${id}-name`}>
          <a href={ridePath(ride._id)}>{rideName(ride)}</a>{' '}
          {passenger?.name && reference && <span class="hint light">{reference}</span>}
        </h4>
        <StatusPill status={status} />
        <strong>{price(ride)}</strong>
      </div>
      <TripText ride={ride} />
      {concern && (
        <p class="board-concern" id={`${id}-concern`}>
          <strong>{concern.text}</strong>
          {concern.until && (
            <>
              , until <Time at={concern.until} form="minute" />
            </>
          )}
        </p>
      )}
      <When row={row} />
      {helpAskedAt && (
        <p id={`${id}-help`}>
          Asked for help <Time at={helpAskedAt.at(-1) as Date} form="clock" />
        </p>
      )}
      {status !== 'cancelled' && <Car ride={ride} />}
      {status === 'bidding' && <Offers ride={ride} />}
      {ride.pinCode && beforeTrip(status) && (
        <p id={`${id}-pin`}>
          PIN <strong>{ride.pinCode}</strong>
        </p>
      )}
      {isMoving(status) && <Messages ride={ride} />}
      <Actions ride={ride} link={link} />
    </li>
  );
}

export const rowId = ({ _id }: Pick<BoardRide, '_id'>): string => `board-${_id}`;

/** The offers that can be accepted, in the order of their arrival: a new offer must not move a button. */
const liveOffers = ({ status, offers }: BoardRide): Offer[] =>
  status === 'bidding' ? offers.filter(({ withdrawnAt }) => !withdrawnAt) : [];

const price = ({ agreedPrice, fare }: BoardRide) =>
  agreedPrice === undefined ? (
    <>
      {shortMoney(fare)} <span class="quiet light">proposed</span>
    </>
  ) : (
    shortMoney(agreedPrice)
  );

/** True for an open live ride that no driver has been asked for. */
const isWithoutDriver = ({ mode, status, asked = [], ...ride }: BoardRide): boolean =>
  mode === 'live' && status === 'bidding' && asked.length === 0 && !waitsToOpen(ride);

/** `$26`, `$26.50` */
const shortMoney = (usd: number): string => moneyText(usd).replace(/\.00$/, '');

/** The time that matters now. */
function When({ row: { ride, arrivesAt } }: { row: PlacedRide }) {
  const { status, statusAt, pickupAt } = ride;
  const scheduled = pickupAt && status !== 'in_progress' && (
    <>
      Pickup <Time at={pickupAt} form="clock" />
    </>
  );
  const [words, at] =
    status === 'arrived'
      ? (['Waiting since', statusAt] as const)
      : status === 'cancelled'
        ? (['Cancelled', statusAt] as const)
        : [status === 'in_progress' ? 'Arrives about' : 'Driver due', arrivesAt && new Date(arrivesAt)];
  if (!scheduled && !at) return null;
  return (
    <p id={`${rowId(ride)}-when`}>
      {scheduled}
      {scheduled && at && ', '}
      {at && (
        <>
          {words} <Time at={at} form="clock" />
        </>
      )}
    </p>
  );
}

function Car({ ride }: { ride: BoardRide }) {
  if (!ride.driver) return null;
  const { name, phone, rating, vehicle, plate } = ride.driver;
  return (
    <p id={`${rowId(ride)}-car`}>
      <span class="car-plate">{plate}</span> {vehicle}{' '}
      <span class="board-driver">
        {name} {ratingText(rating)} <Phone phone={phone} />
      </span>
    </p>
  );
}

function Offers({ ride }: { ride: BoardRide }) {
  const offers = liveOffers(ride);
  if (offers.length === 0) return isWithoutDriver(ride) ? <p class="quiet">No driver near yet</p> : null;
  return (
    <ul class="board-offers" id={`${rowId(ride)}-offers`} aria-label="Offers">
      {offers.map(({ offerId, price: usd, etaMinutes, driver }) => (
        <li key={offerId} id={offerId}>
          <form method="post" action={deskPath(ride._id, 'accept')}>
            {/* Derived, so that an update does not replace the form that a person is sending. */}
            <FormId from={`${ride._id} accept ${offerId}`} account={ride.accountId} />
            <input type="hidden" name="offerId" value={offerId} />
            <button
              class="btn second board-offer"
              type="submit"
              aria-label={`Accept ${shortMoney(usd)}, ${etaMinutes} min, ${driver.vehicle}, ${driver.rating.toFixed(1)}`}
              aria-describedby={`${rowId(ride)}-name`}
            >
              <span class="board-verb">Accept</span> <strong>{shortMoney(usd)}</strong> <span>{etaMinutes} min</span>{' '}
              <span class="board-vehicle">{driver.vehicle}</span> <span>{driver.rating.toFixed(1)}</span>
            </button>
          </form>
        </li>
      ))}
    </ul>
  );
}

const beforeTrip = (status: BoardRide['status']): boolean => status === 'driver_arriving' || status === 'arrived';

/** The messages to the driver, and the box for the next one. */
function Messages({ ride: { _id, accountId, driverNotes = [] } }: { ride: BoardRide }) {
  return (
    <div id={`${rowId({ _id })}-messages`}>
      {driverNotes.length > 0 && (
        <ul class="board-messages" aria-label="Messages to the driver">
          {driverNotes.map(({ number, text, seenAt }) => (
            <li key={number} id={`${rowId({ _id })}-message-${number}`}>
              {text} <span class="quiet nowrap">({seenAt ? 'seen' : 'not seen yet'})</span>
            </li>
          ))}
        </ul>
      )}
      {driverNotes.length < mostNotes && (
        <details id={`${rowId({ _id })}-write`}>
          <summary>Write to the driver</summary>
          <form method="post" action={deskPath(_id, 'tell')} data-done="message sent" class="actions board-write">
            <FormId from={`${_id} tell ${driverNotes.length}`} account={accountId} />
            <input name="text" aria-label="Message to the driver" maxLength={300} required autocomplete="off" />
            <button class="btn second" type="submit">
              Send
            </button>
          </form>
        </details>
      )}
    </div>
  );
}

function Actions({ ride, link }: { ride: BoardRide; link: string }) {
  const { _id, status, trackToken } = ride;
  if (status === 'cancelled') {
    return (
      <div class="actions board-actions">
        <a class="btn second" href={`${deskPath()}?repeat=${_id}`}>
          Book again
        </a>
      </div>
    );
  }
  return (
    <div class="actions board-actions">
      <form method="get" action={deskPath(_id, 'cancel')}>
        <button class="btn danger" type="submit" aria-describedby={`${rowId(ride)}-name`}>
          Cancel ride
        </button>
      </form>
      <a class="btn second" href={deskPath(_id, 'change')} aria-describedby={`${rowId(ride)}-name`}>
        Change
      </a>
      {status === 'arrived' && ride.pinCode && (
        <form method="post" action={deskPath(_id, 'start')} data-done="trip started" id={`${rowId(ride)}-start`}>
          <FormId from={`${_id} start`} account={ride.accountId} />
          <button class="btn second" type="submit" aria-describedby={`${rowId(ride)}-name`}>
            Start without PIN
          </button>
        </form>
      )}
      {trackToken && (
        <>
          <CopyText text={link} label="Copy link" />
          <CopyText text={messageOf(ride, link)} label="Copy message" />
        </>
      )}
    </div>
  );
}

/** A button that copies a text. Hidden until a script shows it. */
const CopyText = ({ text, label }: { text: string; label: string }) => (
  <button type="button" class="btn second" data-copy={text} hidden>
    {label}
  </button>
);

/** A message to the passenger. It names the car, and nobody but the driver's first name. */
function messageOf({ driver, status }: BoardRide, link: string): string {
  if (!driver) return `Your ride is booked. Follow it here: ${link}`;
  const car = `a ${isolated(driver.vehicle)}, plate ${isolated(driver.plate)}`;
  const first = isolated(driver.name.trim().split(/\s+/)[0] ?? '');
  if (status === 'arrived')
    return `Your driver ${first} is waiting at the pickup in ${car}. Follow the ride here: ${link}`;
  return `Your driver ${first} comes in ${car}. Follow the car here: ${link}`;
}
