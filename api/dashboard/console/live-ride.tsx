import type { Offer } from '../../../shared/rides/ride-types.ts';
import { hasEnded } from '../../../shared/rides/transitions.ts';
import { type HistoryEntry, historyOf } from '../../../shared/webhooks/ride-history.ts';
import { moneyText, StatusPill } from '../../../web/kit/facts.tsx';
import { FormId } from '../../../web/kit/forms.tsx';
import { consoleRidePath } from '../../../web/kit/paths.ts';
import { renderHtml } from '../../../web/kit/render.ts';
import { type TrackState, trackState } from '../../../web/track/track-state.ts';
import { titleOf } from '../rides/timeline.tsx';
import type { ConsoleRide } from './console-ride.ts';
import type { ConsoleState } from './console-state.ts';
import { DriverCard } from './manual-steps.tsx';
import { detailOf, Timeline } from './timeline.tsx';

export function consoleState(ride: ConsoleRide): ConsoleState {
  const latest = historyOf(ride, [], ride.now.getTime()).at(-1) as HistoryEntry;
  const map = trackState(ride);
  return {
    now: ride.now.getTime(),
    isOver: hasEnded(ride.status) && ride.unsettled === 0,
    latest: [titleOf(latest), detailOf(latest, ride)].filter(Boolean).join(': '),
    html: renderHtml(<LiveRide ride={ride} />),
    ...(map && { map: withoutKnownPosition(map) }),
  };
}

/** The map computes the position on a drive, so a state is not news because the car has moved. */
const withoutKnownPosition = (map: TrackState): TrackState => (map.leg ? { ...map, position: undefined } : map);

/** The part of a ride's page that changes with the ride. Each element that can appear or disappear has an id. */
export function LiveRide({ ride }: { ride: ConsoleRide }) {
  return (
    <div id="live" class="console-live">
      <State ride={ride} />
      <PartnerCard ride={ride} />
      <DriverCard ride={ride} />
      <Timeline ride={ride} />
    </div>
  );
}

function State({ ride }: { ride: ConsoleRide }) {
  const { status, driver, agreedPrice, fare } = ride;
  return (
    <section class="console-state" aria-label="State of the ride">
      <StatusPill status={status} />
      <p>
        <strong>{moneyText(agreedPrice ?? fare)}</strong>{' '}
        <span class="quiet">{agreedPrice === undefined ? 'proposed' : 'agreed'}</span>
      </p>
      {driver?.name && (
        <p id="driver">
          {driver.name}, {driver.vehicle}, {driver.plate}
        </p>
      )}
    </section>
  );
}

/** What the partner does with the ride: the same as over the API. */
function PartnerCard({ ride }: { ride: ConsoleRide }) {
  return (
    <section class="console-partner card" aria-labelledby="partner">
      <div class="console-card-head">
        <h2 id="partner">As the partner</h2>
        {!hasEnded(ride.status) && (
          <form id="cancel" method="post" action={`${consoleRidePath(ride._id)}/cancel`}>
            <FormId from={`${ride._id} cancel`} account={ride.accountId} />
            <button class="btn danger" type="submit">
              Cancel ride
            </button>
          </form>
        )}
      </div>
      <h3 id="offers" tabIndex={-1}>
        Offers
      </h3>
      {ride.offers.length === 0 ? (
        <p class="quiet">{ride.status === 'bidding' ? 'No offer yet.' : 'No offers were made.'}</p>
      ) : (
        <ul class="console-offers">
          {cheapestFirst(ride.offers).map((offer) => (
            <li key={offer.offerId} id={offer.offerId}>
              <div>
                <p class="price">{moneyText(offer.price)}</p>
                <p class="quiet">
                  {offer.driver.name}, {offer.etaMinutes} min away
                </p>
              </div>
              <OfferState ride={ride} offer={offer} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function cheapestFirst(offers: readonly Offer[]): Offer[] {
  return offers.toSorted((a, b) => a.price - b.price || a.etaMinutes - b.etaMinutes);
}

function OfferState({ ride, offer }: { ride: ConsoleRide; offer: Offer }) {
  if (offer.offerId === ride.acceptedOfferId) return <strong>accepted</strong>;
  if (offer.withdrawnAt) return <p class="quiet">withdrawn</p>;
  if (ride.status !== 'bidding') return <p class="quiet">not accepted</p>;
  return (
    <form method="post" action={`${consoleRidePath(ride._id)}/accept`}>
      <FormId from={`${ride._id} accept ${offer.offerId}`} account={ride.accountId} />
      <input type="hidden" name="offerId" value={offer.offerId} />
      <button class="btn" type="submit">
        Accept
        <span class="spoken">{` the offer of ${offer.driver.name}, ${moneyText(offer.price)}`}</span>
      </button>
    </form>
  );
}
