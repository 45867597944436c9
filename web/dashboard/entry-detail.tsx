import { needWords } from '../../shared/base/terms.ts';
import type { ShownMessage } from '../../shared/messages/stored-messages.ts';
import { coordinatesText } from '../../shared/rides/place-text.ts';
import type { Driver, Location, Ride, RideEvent } from '../../shared/rides/ride-types.ts';
import type { HistoryEntry } from '../../shared/webhooks/ride-history.ts';
import { AttemptDetail, DeliveryDetail, EventBody, Resend } from '../kit/attempt-detail.tsx';
import { type Fact, Facts } from '../kit/blocks.tsx';
import { actorWords, eventText, Id, limitsText, moneyText, None, OutcomePill, Time } from '../kit/facts.tsx';
import { messageKindWords, messageReason, personWords } from '../kit/message-words.ts';
import { Phone } from '../kit/ride-parts.tsx';
import { useMay } from '../kit/viewer.tsx';
import { labelledFacts, ratingFacts } from './ride-facts.tsx';
import { type ChosenEntry, MessagePill, titleOf } from './timeline.tsx';

/** The details of the chosen entry of a ride's timeline. */
export function EntryDetail({ ride, chosen, now }: { ride: Ride; chosen: ChosenEntry; now: number }) {
  const { entry, delivery } = chosen;
  const isBuilder = useMay('GET /deliveries/:attemptId');
  if (entry.message) return <MessageDetail message={entry.message} />;
  if (!delivery) {
    return (
      <>
        <h2 id="detail-title">{titleOf(entry)}</h2>
        <Facts of={entryFacts(ride, entry, isBuilder)} />
        {entry.event && isBuilder && (
          <>
            <EventBody
              body={entry.event.body}
              title={`Body of its event ${eventText({ event: entry.event.event, rideStatus: entry.status })}`}
            />
            {canResend(entry.event) && <Resend rideId={ride._id} seq={entry.event.seq} />}
          </>
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
      <Facts
        of={[
          ['To', [personWords(person), opened?.to].filter(Boolean).join(', ')],
          ['At', <Time at={createdAt} form="exact" />],
          ['Outcome since', finishedAt && <Time at={finishedAt} form="exact" />],
          ['Reason', reason && messageReason(reason)],
          ['Text', opened ? opened.text : 'erased, or never written'],
        ]}
      />
    </>
  );
}

/** An event can be resent to a URL after its attempt there, until retention erases its body. */
const canResend = ({ delivery, body }: RideEvent, endpointId?: string): boolean =>
  (delivery !== undefined || endpointId !== undefined) && Boolean(body);

function entryFacts(ride: Ride, entry: HistoryEntry, isBuilder: boolean): Fact[] {
  const { at, by, requestId, offer, kind, status, event, fields } = entry;
  const { fare, firstFare, agreedPrice, acceptedOfferId } = ride;
  const chosen = status === 'driver_arriving' ? ride.driver : undefined;
  const driver = offer?.driver ?? chosen;
  const offerId = offer?.offerId ?? (chosen && acceptedOfferId);
  return [
    ['At', <Time at={at} form="exact" />],
    ['By', by && actorWords[by]],
    ['Request', requestId && <Id id={requestId} />],
    ['Price', offer && moneyText(offer.price)],
    ['Arrives in', kind === 'offer' && offer && `${offer.etaMinutes} min`],
    ['Agreed price', chosen && moneyText(agreedPrice ?? fare)],
    // The phone is shown only for the driver of the ride.
    ...(driver ? driverFacts(driver, chosen?.phone) : []),
    ['Offer', offerId && <Id id={offerId} />],
    ['Event', event && `number ${event.seq} of this ride`],
    ['Fare', kind === 'raise' && `${moneyText(fare)}, initially ${moneyText(firstFare ?? fare)}`],
    ['Changed', kind === 'change' && fields?.join(', ')],
    ...(kind === 'rating' ? ratingFacts(ride) : []),
    ...(kind === 'created' ? requestFacts(ride, isBuilder) : []),
  ];
}

const driverFacts = ({ name, rating, vehicle, plate }: Driver, phone?: string): Fact[] =>
  name
    ? [
        ['Driver', `${name}, rated ${rating.toFixed(1)}`],
        ['Phone', phone && <Phone phone={phone} />],
        ['Car', `${vehicle}, ${plate}`],
      ]
    : [['Driver', 'erased']];

/** The fields of a ride's request. */
function requestFacts(ride: Ride, isBuilder: boolean): Fact[] {
  const { passenger, needs, pickupAt, metadata = {}, webhookUrl, idempotency, autoAccept } = ride;
  return [
    ['Pickup', <Place {...ride.pickup} />],
    ['Destination', <Place {...ride.destination} />],
    ['Distance', `${ride.distanceKm.toFixed(1)} km`],
    ['Fare', moneyText(ride.firstFare ?? ride.fare)],
    ['Auto-accept', autoAccept && limitsText(autoAccept)],
    ['Car type', ride.carType],
    ['Ride type', ride.rideType],
    ['Passengers', ride.passengerCount],
    ['Needs', needs?.map((need) => needWords[need]).join(', ')],
    ['Scheduled for', pickupAt && <Time at={pickupAt} form="exact" />],
    ['Passenger', [passenger?.name, passenger?.phone].filter(Boolean).join(', ')],
    ['Notes', ride.notes],
    ...labelledFacts(ride),
    ['Reference', ride.reference],
    ...Object.entries(metadata).map(([name, value]): Fact => [<code>{name}</code>, value || <None />]),
    ['Webhook URL', isBuilder && webhookUrl && <code>{withoutQuery(webhookUrl)}</code>],
    ['Idempotency-Key', isBuilder && idempotency && <code>{idempotency.key}</code>],
    ['Test scenario', ride.scenario],
    ['Bidding until', <Time at={ride.biddingEndsAt} form="exact" />],
  ];
}

/** The partner's address text, and the coordinates that the driver drives to. */
function Place(place: Location) {
  return (
    <>
      {place.address && `${place.address}, `}
      <span class={place.address ? 'quiet nowrap' : 'nowrap'}>{coordinatesText(place)}</span>
    </>
  );
}

/** Hides the query: it may contain a secret of the receiver. */
const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '?…');
