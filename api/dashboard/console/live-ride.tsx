import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Config } from '../../../shared/base/config.ts';
import { trackUrl } from '../../../shared/rides/events.ts';
import type { Delivery, Offer } from '../../../shared/rides/ride-types.ts';
import { hasEnded } from '../../../shared/rides/transitions.ts';
import { exactText, moneyText, OutcomePill, StatusPill } from '../facts.tsx';
import { FormId } from '../forms.tsx';
import type { ConsoleRide } from './console-ride.ts';
import type { ConsoleState } from './console-state.ts';
import { HandSteps, WithdrawForm } from './hand-steps.tsx';
import { type Entry, nextStepOf, offsetText, timelineOf } from './timeline.ts';

export function consoleState(links: Pick<Config, 'trackBaseUrl'>, ride: ConsoleRide): ConsoleState {
  const { title, detail } = timelineOf(ride, moneyText).at(-1) ?? { title: '', detail: '' };
  return {
    now: ride.now.getTime(),
    isOver: hasEnded(ride.status) && ride.unsettled === 0,
    latest: [title, detail].filter(Boolean).join(': '),
    html: renderToString(<LiveRide ride={ride} links={links} />),
  };
}

/** The part of a ride's page that changes as the ride goes on. Each element that comes and goes has an id. */
export function LiveRide({ ride, links }: { ride: ConsoleRide; links: Pick<Config, 'trackBaseUrl'> }) {
  return (
    <div id="live" class="console-live">
      <State ride={ride} links={links} />
      <HandSteps ride={ride} />
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
          <form id="cancel" method="post" action={`/dashboard/console/${ride._id}/cancel`}>
            <FormId from={`${ride._id} cancel`} />
            <button class="btn danger" type="submit">
              Cancel ride
            </button>
          </form>
        )}
      </div>
      <dl class="facts">
        <dt>Fare</dt>
        <dd>{moneyText(ride.fare)}</dd>
        <dt>Agreed price</dt>
        <dd>{agreedPrice === undefined ? none : moneyText(agreedPrice)}</dd>
        <dt>Driver</dt>
        <dd>{driver ? `${driver.name}, ${driver.vehicle}, ${driver.plate}` : none}</dd>
        <dt>Live map</dt>
        <dd>
          <a href={trackUrl(links.trackBaseUrl, ride)}>Follow the car</a>
        </dd>
        <dt>Events</dt>
        <dd>
          <a href={`/dashboard/rides/${ride._id}`}>See what was sent and answered</a>
        </dd>
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
        <p class="quiet">{ride.status === 'bidding' ? 'No offer yet.' : 'No offer came.'}</p>
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
  if (ride.status !== 'bidding') return <Note>dropped</Note>;
  return (
    <div class="console-choice">
      <form method="post" action={`/dashboard/console/${ride._id}/accept`}>
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

function Timeline({ ride }: { ride: ConsoleRide }) {
  const entries = timelineOf(ride, moneyText);
  const next = nextStepOf(ride);
  const start = ride.createdAt.getTime();
  return (
    <section class="console-timeline" aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      <ol>
        {entries.map((entry) => (
          <TimelineEntry key={entry.key} entry={entry} start={start} />
        ))}
        {next && (
          <li id="next" class="to-come">
            <Time at={next.at} start={start} />
            <div>
              <p>
                <span class="next-word">Next</span> {next.words}
              </p>
            </div>
          </li>
        )}
      </ol>
    </section>
  );
}

function TimelineEntry({ entry: { key, at, title, detail, event }, start }: { entry: Entry; start: number }) {
  return (
    <li id={key}>
      <Time at={at} start={start} />
      <div>
        <p class="what">{title}</p>
        {detail && <p class="quiet">{detail}</p>}
        {event && (
          <p class="sent">
            <code>{event.name}</code> <OutcomePill outcome={event.delivery?.outcome ?? 'waiting'} />{' '}
            {event.delivery && <span class="quiet">{answerText(event.delivery)}</span>}
          </p>
        )}
      </div>
    </li>
  );
}

function Time({ at, start }: { at: number; start: number }) {
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={exactText(date)}>
      {offsetText(at, start)}
      <span class="quiet">{date.toISOString().slice(11, 19)} UTC</span>
    </time>
  );
}

/** What the receiver answered, and how long it took. */
function answerText({ outcome, httpStatus, durationMs }: Delivery): string {
  if (outcome === 'no_url' || outcome === 'blocked') return '';
  return `${httpStatus === undefined ? 'no answer' : `HTTP ${httpStatus}`} after ${Math.round(durationMs)} ms`;
}
