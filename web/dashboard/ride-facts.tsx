import { needWords } from '../../shared/base/terms.ts';
import { type GivenFields, labelledFields } from '../../shared/rides/fields.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { Fact } from '../kit/blocks.tsx';
import { cancelReasonWords, counted, Id, KeyName, moneyText, shortId, Time } from '../kit/facts.tsx';
import { ridePath } from '../kit/paths.ts';
import { Phone } from '../kit/ride-parts.tsx';
import { ratingText } from '../kit/ride-words.ts';

/** The people of a ride first, then the trip, then what identifies the ride. */
export function RideFacts({ ride, keyName }: { ride: Ride; keyName?: string }) {
  const { passenger, passengerCount, notes, driver, distanceKm, carType, reference } = ride;
  const { pickupAt, needs, cancelReason, nextRideId, replaces } = ride;
  return (
    <dl class="card facts ride-facts">
      {cancelReason && <Fact name="Cancelled">{cancelReasonWords[cancelReason]}</Fact>}
      {nextRideId && (
        <Fact name="Replaced by">
          <RideLink rideId={nextRideId} />
        </Fact>
      )}
      {replaces && (
        <Fact name="Replaces">
          <RideLink rideId={replaces} />
        </Fact>
      )}
      {pickupAt && (
        <Fact name="Scheduled for">
          <Time at={pickupAt} />
        </Fact>
      )}
      {(passenger?.name || passenger?.phone) && (
        <Fact name="Passenger">
          <Person name={passenger.name} phone={passenger.phone} />
        </Fact>
      )}
      {needs && <Fact name="Needs">{needs.map((need) => needWords[need]).join(', ')}</Fact>}
      {notes && <Fact name="Notes">{notes}</Fact>}
      <LabelledFacts ride={ride} />
      {ride.pinCode && <Fact name="PIN">{ride.pinCode}</Fact>}
      {ride.driverNotes && (
        <Fact name="Messages to the driver">
          {ride.driverNotes.map(({ number, text, seenAt }) => (
            <span key={number}>
              {text} <span class="quiet">({seenAt ? 'seen' : 'not seen yet'})</span>{' '}
            </span>
          ))}
        </Fact>
      )}
      {driver?.name && (
        <>
          <Fact name="Driver">
            <Person name={`${driver.name} ${ratingText(driver.rating)}`} phone={driver.phone} />
          </Fact>
          <Fact name="Car">
            <span class="car-plate">{driver.plate}</span> {driver.vehicle}
          </Fact>
        </>
      )}
      <RatingFacts ride={ride} />
      <Fact name="Price">
        <Price ride={ride} />
      </Fact>
      <Fact name="Trip">{`${distanceKm.toFixed(1)} km, ${counted(passengerCount, 'passenger')}, ${carType} car`}</Fact>
      <Fact name="Requested">
        <Time at={ride.createdAt} />
      </Fact>
      {reference && <Fact name="Reference">{reference}</Fact>}
      <Fact name="Key">
        <KeyName keyId={ride.keyId} name={keyName} mode={ride.mode} />
      </Fact>
      <Fact name="Ride id">
        <Id id={ride._id} />
      </Fact>
    </dl>
  );
}

/** The fields of a ride that have only a label (fields.ts). */
export const LabelledFacts = ({ ride }: { ride: GivenFields }) => (
  <>
    {labelledFields.map(
      ({ name, label }) =>
        ride[name] !== undefined && (
          <Fact key={name} name={label}>
            {String(ride[name])}
          </Fact>
        ),
    )}
  </>
);

/** The passenger's rating of the ride. */
export const RatingFacts = ({ ride: { rating } }: { ride: Pick<Ride, 'rating'> }) =>
  rating ? (
    <>
      <Fact name="Rating">{`${rating.stars} of 5 stars`}</Fact>
      {rating.comment && <Fact name="Comment">{rating.comment}</Fact>}
    </>
  ) : null;

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
