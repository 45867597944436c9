import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Config } from '../../../shared/base/config.ts';
import { trackUrl } from '../../../shared/rides/events.ts';
import type { Offer } from '../../../shared/rides/ride-types.ts';
import { hasEnded } from '../../../shared/rides/transitions.ts';
import { type HistoryEntry, historyOf } from '../../../shared/webhooks/ride-history.ts';
import { Fact } from '../blocks.tsx';
import { moneyText, StatusPill } from '../facts.tsx';
import { FormId } from '../forms.tsx';
import { consoleRidePath } from '../paths.ts';
import { titleOf } from '../rides/timeline.tsx';
import type { ConsoleRide } from './console-ride.ts';
import type { ConsoleState } from './console-state.ts';
import { ManualSteps, WithdrawForm } from './manual-steps.tsx';
import { detailOf, Timeline } from './timeline.tsx';

export function consoleState(links: Pick<Config, 'trackBaseUrl'>, ride: ConsoleRide): ConsoleState {
  const latest = historyOf(ride, [], ride.now.getTime()).at(-1) as HistoryEntry;
  return {
    now: ride.now.getTime(),
    isOver: hasEnded(ride.status) && ride.unsettled === 0,
    latest: [titleOf(latest), detailOf(latest, ride)].filter(Boolean).join(': '),
    html: renderToString(<LiveRide ride={ride} links={links} />),
  };
}

/** The part of a ride's page that changes with the ride. Each element that can appear or disappear has an id. */
export function LiveRide({ ride, links }: { ride: ConsoleRide; links: Pick<Config, 'trackBaseUrl'> }) {
  return (
    <div id="live" class="console-live">
      <State ride={ride} links={links} />
      <ManualSteps ride={ride} />
      <Offers ride={ride} />
      <Timeline ride={ride} />
    </div>
  );
}

function State({ ride, links }: { ride: ConsoleRide; links: Pick<Config, 'trackBaseUrl'> }) {
  const { driver, agreedPrice } = ride;
  const none = <span class="quiet">{hasEnded(ride.status) ? 'none' : 'none yet'}</span>;
  return (
    <section class="console-state card" aria-label="State of the ride">
      <div class="console-status">
        <StatusPill status={ride.status} />
        {!hasEnded(ride.status) && (
          <form id="cancel" method="post" action={`${consoleRidePath(ride._id)}/cancel`}>
            <FormId from={`${ride._id} cancel`} />
            <button class="btn danger" type="submit">
              Cancel ride
            </button>
          </form>
        )}
      </div>
      <dl class="facts">
        <Fact name="Fare">{moneyText(ride.fare)}</Fact>
        <Fact name="Agreed price">{agreedPrice === undefined ? none : moneyText(agreedPrice)}</Fact>
        <Fact name="Driver">{driver ? `${driver.name}, ${driver.vehicle}, ${driver.plate}` : none}</Fact>
        <Fact name="Live map">
          <a href={trackUrl(links.trackBaseUrl, ride)}>Follow the car</a>
        </Fact>
        <Fact name="Events">
          <a href={`/dashboard/rides/${ride._id}`}>Show requests and answers</a>
        </Fact>
      </dl>
    </section>
  );
}

function Offers({ ride }: { ride: ConsoleRide }) {
  return (
    <section class="console-offers card" aria-labelledby="offers">
      <h2 id="offers" tabIndex={-1}>
        Offers
      </h2>
      {ride.offers.length === 0 ? (
        <p class="quiet">{ride.status === 'bidding' ? 'No offer yet.' : 'No offers were made.'}</p>
      ) : (
        <ul>
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
  if (offer.withdrawnAt) return <Note>withdrawn</Note>;
  if (ride.status !== 'bidding') return <Note>not accepted</Note>;
  return (
    <div class="console-choice">
      <form method="post" action={`${consoleRidePath(ride._id)}/accept`}>
        <FormId from={`${ride._id} accept ${offer.offerId}`} />
        <input type="hidden" name="offerId" value={offer.offerId} />
        <button class="btn" type="submit">
          Accept
          <span class="spoken">{` the offer of ${offer.driver.name}, ${moneyText(offer.price)}`}</span>
        </button>
      </form>
      <WithdrawForm ride={ride} offer={offer} />
    </div>
  );
}

const Note = ({ children }: { children: ComponentChildren }) => <p class="quiet">{children}</p>;
