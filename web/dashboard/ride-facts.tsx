import { needWords } from '../../shared/base/terms.ts';
import { type GivenFields, labelledFields } from '../../shared/rides/fields.ts';
import type { Driver, Ride } from '../../shared/rides/ride-types.ts';
import { type Fact, Facts } from '../kit/blocks.tsx';
import { cancelReasonWords, counted, Id, KeyName, moneyText, shortId, Time } from '../kit/facts.tsx';
import { ridePath } from '../kit/paths.ts';
import { Phone } from '../kit/ride-parts.tsx';
import { ratingText } from '../kit/ride-words.ts';

/** The people of a ride first, then the trip, then what identifies the ride. */
export function RideFacts({ ride, keyName }: { ride: Ride; keyName?: string }) {
  const { passenger, driver, pickupAt, needs, cancelReason, nextRideId, replaces } = ride;
  return (
    <Facts
      class="card facts ride-facts"
      of={[
        ['Cancelled', cancelReason && cancelReasonWords[cancelReason]],
        ['Replaced by', nextRideId && <RideLink rideId={nextRideId} />],
        ['Replaces', replaces && <RideLink rideId={replaces} />],
        ['Scheduled for', pickupAt && <Time at={pickupAt} />],
        ['Passenger', (passenger?.name || passenger?.phone) && <Person {...passenger} />],
        ['Needs', needs?.map((need) => needWords[need]).join(', ')],
        ['Notes', ride.notes],
        ...labelledFacts(ride),
        ['PIN', ride.pinCode],
        ['Messages to the driver', ride.driverNotes && <DriverNotes notes={ride.driverNotes} />],
        ...(driver?.name ? driverFacts(driver) : []),
        ...ratingFacts(ride),
        ['Price', <Price ride={ride} />],
        ['Trip', `${ride.distanceKm.toFixed(1)} km, ${counted(ride.passengerCount, 'passenger')}, ${ride.carType} car`],
        ['Requested', <Time at={ride.createdAt} />],
        ['Reference', ride.reference],
        ['Key', <KeyName keyId={ride.keyId} name={keyName} mode={ride.mode} />],
        ['Ride id', <Id id={ride._id} />],
      ]}
    />
  );
}

const driverFacts = ({ name, rating, phone, plate, vehicle }: Driver): Fact[] => [
  ['Driver', <Person name={`${name} ${ratingText(rating)}`} phone={phone} />],
  ['Car', [<span class="car-plate">{plate}</span>, ` ${vehicle}`]],
];

/** The fields of a ride that have only a label (fields.ts). */
export const labelledFacts = (ride: GivenFields): Fact[] =>
  labelledFields.map(({ name, label }) => [label, ride[name] === undefined ? undefined : String(ride[name])]);

/** The passenger's rating of the ride. */
export const ratingFacts = ({ rating }: Pick<Ride, 'rating'>): Fact[] => [
  ['Rating', rating && `${rating.stars} of 5 stars`],
  ['Comment', rating?.comment],
];

const DriverNotes = ({ notes }: { notes: NonNullable<Ride['driverNotes']> }) => (
  <>
    {notes.map(({ number, text, seenAt }) => (
      <span key={number}>
        {text} <span class="quiet">({seenAt ? 'seen' : 'not seen yet'})</span>{' '}
      </span>
    ))}
  </>
);

const RideLink = ({ rideId }: { rideId: string }) => <a href={ridePath(rideId)}>Ride {shortId(rideId)}</a>;

/** A name, and a phone number that can be called. */
function Person({ name, phone }: { name?: string; phone?: string }) {
  return (
    <>
      {name && <span>{name}</span>} <Phone phone={phone} />
    </>
  );
}

/** The agreed price, or else the fare that is proposed to drivers. */
function Price({ ride: { agreedPrice, fare, firstFare } }: { ride: Ride }) {
  if (agreedPrice === undefined) {
    return (
      <>
        {moneyText(fare)}{' '}
        <span class="quiet">proposed{firstFare === undefined ? '' : `, raised from ${moneyText(firstFare)}`}</span>
      </>
    );
  }
  return (
    <>
      {moneyText(agreedPrice)} {agreedPrice !== fare && <span class="quiet">agreed, {moneyText(fare)} proposed</span>}
    </>
  );
}
