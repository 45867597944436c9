import { needWords } from '../../shared/base/terms.ts';
import type { ShownMessage } from '../../shared/messages/stored-messages.ts';
import { coordinatesText } from '../../shared/rides/place-text.ts';
import type { Driver, Location, Ride, RideEvent, RideRequest } from '../../shared/rides/ride-types.ts';
import type { HistoryEntry } from '../../shared/webhooks/ride-history.ts';
import { AttemptDetail, DeliveryDetail, EventBody, Resend } from '../kit/attempt-detail.tsx';
import { Fact } from '../kit/blocks.tsx';
import { actorWords, eventText, Id, limitsText, moneyText, None, OutcomePill, Time } from '../kit/facts.tsx';
import { messageKindWords, messageReason, personWords } from '../kit/message-words.ts';
import { Phone } from '../kit/ride-parts.tsx';
import { IfMay } from '../kit/viewer.tsx';
import { LabelledFacts, RatingFacts } from './ride-facts.tsx';
import { type ChosenEntry, MessagePill, titleOf } from './timeline.tsx';

/** The details of the chosen entry of a ride's timeline. */
export function EntryDetail({ ride, chosen, now }: { ride: Ride; chosen: ChosenEntry; now: number }) {
  const { entry, delivery } = chosen;
  if (entry.message) return <MessageDetail message={entry.message} />;
  if (!delivery) {
    return (
      <>
        <h2 id="detail-title">{titleOf(entry)}</h2>
        <EntryFacts ride={ride} entry={entry} />
        {entry.event && (
          <IfMay route="GET /deliveries/:attemptId">
            <EventBody
              body={entry.event.body}
              title={`Body of its event ${eventText({ event: entry.event.event, rideStatus: entry.status })}`}
            />
            {canResend(entry.event) && <Resend rideId={ride._id} seq={entry.event.seq} />}
          </IfMay>
        )}
      </>
    );
  }
  const { event, attempt, outcome } = delivery;
  const { endpointId } = attempt ?? {};
  const resend = outcome !== 'waiting' && canResend(event, endpointId) && (
    <Resend rideId={ride._id} seq={event.seq} endpointId={endpointId} />
  );
  return (
    <>
      <div class="apart">
        <h2 id="detail-title">
          <code>{eventText({ event: event.event, rideStatus: entry.status })}</code>{' '}
          {entry.offer?.driver.name && <span class="quiet">{`from ${entry.offer.driver.name}`}</span>}
        </h2>
        <OutcomePill outcome={outcome} />
      </div>
      {attempt ? (
        <AttemptDetail attempt={attempt} now={now}>
          {resend}
        </AttemptDetail>
      ) : (
        <DeliveryDetail delivery={delivery}>{resend}</DeliveryDetail>
      )}
    </>
  );
}

/** A text message: to whom, its outcome, and its text. */
function MessageDetail({ message }: { message: ShownMessage }) {
  const { kind, person, state, createdAt, finishedAt, reason, opened } = message;
  return (
    <>
      <div class="apart">
        <h2 id="detail-title">Text message: {messageKindWords[kind]}</h2>
        <MessagePill state={state} />
      </div>
      <dl class="facts">
        <Fact name="To">{[personWords(person), opened?.to].filter(Boolean).join(', ')}</Fact>
        <Fact name="At">
          <Time at={createdAt} form="exact" />
        </Fact>
        {finishedAt && (
          <Fact name="Outcome since">
            <Time at={finishedAt} form="exact" />
          </Fact>
        )}
        {reason && <Fact name="Reason">{messageReason(reason)}</Fact>}
        <Fact name="Text">{opened ? opened.text : 'erased, or never written'}</Fact>
      </dl>
    </>
  );
}

/** An event can be resent to a URL after its attempt there, until retention erases its body. */
const canResend = ({ delivery, body }: RideEvent, endpointId?: string): boolean =>
  (delivery !== undefined || endpointId !== undefined) && Boolean(body);

function EntryFacts({ ride, entry }: { ride: Ride; entry: HistoryEntry }) {
  const { at, by, requestId, offer, kind, status, event } = entry;
  return (
    <dl class="facts">
      <Fact name="At">
        <Time at={at} form="exact" />
      </Fact>
      {by && <Fact name="By">{actorWords[by]}</Fact>}
      {requestId && (
        <Fact name="Request">
          <Id id={requestId} />
        </Fact>
      )}
      {offer && (
        <>
          <Fact name="Price">{moneyText(offer.price)}</Fact>
          {kind === 'offer' && <Fact name="Arrives in">{`${offer.etaMinutes} min`}</Fact>}
          <DriverFacts driver={offer.driver} />
          <Fact name="Offer">
            <Id id={offer.offerId} />
          </Fact>
        </>
      )}
      {status === 'driver_arriving' && ride.driver && (
        <>
          <Fact name="Agreed price">{moneyText(ride.agreedPrice ?? ride.fare)}</Fact>
          <DriverFacts driver={ride.driver} phone />
          {ride.acceptedOfferId && (
            <Fact name="Offer">
              <Id id={ride.acceptedOfferId} />
            </Fact>
          )}
        </>
      )}
      {event && <Fact name="Event">{`number ${event.seq} of this ride`}</Fact>}
      {kind === 'raise' && (
        <Fact name="Fare">{`${moneyText(ride.fare)}, initially ${moneyText(ride.firstFare ?? ride.fare)}`}</Fact>
      )}
      {kind === 'change' && <Fact name="Changed">{entry.fields?.join(', ') ?? ''}</Fact>}
      {kind === 'rating' && <RatingFacts ride={ride} />}
      {kind === 'created' && <RequestFacts ride={ride} />}
    </dl>
  );
}

/** The phone is shown only for the driver of the ride. */
function DriverFacts({ driver, phone }: { driver: Driver; phone?: boolean }) {
  if (!driver.name) return <Fact name="Driver">erased</Fact>;
  return (
    <>
      <Fact name="Driver">{`${driver.name}, rated ${driver.rating.toFixed(1)}`}</Fact>
      {phone && driver.phone && (
        <Fact name="Phone">
          <Phone phone={driver.phone} />
        </Fact>
      )}
      <Fact name="Car">{`${driver.vehicle}, ${driver.plate}`}</Fact>
    </>
  );
}

type Requested = Pick<Ride, keyof RideRequest | 'firstFare' | 'idempotency' | 'scenario' | 'biddingEndsAt'>;

/** The fields of a ride's request. */
export function RequestFacts({ ride }: { ride: Requested }) {
  const { pickup, destination, passenger, notes, reference, metadata, webhookUrl, idempotency, scenario, autoAccept } =
    ride;
  const { needs, pickupAt } = ride;
  const riders = [passenger?.name, passenger?.phone].filter(Boolean).join(', ');
  return (
    <>
      <PlaceFact name="Pickup" place={pickup} />
      <PlaceFact name="Destination" place={destination} />
      <Fact name="Distance">{`${ride.distanceKm.toFixed(1)} km`}</Fact>
      <Fact name="Fare">{moneyText(ride.firstFare ?? ride.fare)}</Fact>
      {autoAccept && <Fact name="Auto-accept">{limitsText(autoAccept)}</Fact>}
      <Fact name="Car type">{ride.carType}</Fact>
      <Fact name="Ride type">{ride.rideType}</Fact>
      <Fact name="Passengers">{ride.passengerCount}</Fact>
      {needs && <Fact name="Needs">{needs.map((need) => needWords[need]).join(', ')}</Fact>}
      {pickupAt && (
        <Fact name="Scheduled for">
          <Time at={pickupAt} form="exact" />
        </Fact>
      )}
      {riders && <Fact name="Passenger">{riders}</Fact>}
      {notes && <Fact name="Notes">{notes}</Fact>}
      <LabelledFacts ride={ride} />
      {reference && <Fact name="Reference">{reference}</Fact>}
      {Object.entries(metadata ?? {}).map(([name, value]) => (
        <Fact key={name} name={<code>{name}</code>}>
          {value || <None />}
        </Fact>
      ))}
      <IfMay route="GET /deliveries/:attemptId">
        {webhookUrl && (
          <Fact name="Webhook URL">
            <code>{withoutQuery(webhookUrl)}</code>
          </Fact>
        )}
        {idempotency && (
          <Fact name="Idempotency-Key">
            <code>{idempotency.key}</code>
          </Fact>
        )}
      </IfMay>
      {scenario && <Fact name="Test scenario">{scenario}</Fact>}
      <Fact name="Bidding until">
        <Time at={ride.biddingEndsAt} form="exact" />
      </Fact>
    </>
  );
}

/** The partner's address text, and the coordinates that the driver drives to. */
function PlaceFact({ name, place }: { name: string; place: Location }) {
  return (
    <Fact name={name}>
      {place.address && `${place.address}, `}
      <span class={place.address ? 'quiet nowrap' : 'nowrap'}>{coordinatesText(place)}</span>
    </Fact>
  );
}

/** Hides the query: it may contain a secret of the receiver. */
const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '?…');
