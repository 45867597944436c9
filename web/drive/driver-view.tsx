import type { Config } from '../../shared/base/config.ts';
import type { ActiveDriver } from '../../shared/drivers/driver.ts';
import { assetUrl } from '../kit/assets.ts';
import { renderDocument } from '../kit/document.tsx';
import { mapData } from '../kit/map-data.ts';
import { ratingText } from '../kit/ride-words.ts';
import { confirmWords } from './drive-words.ts';
import { NeedsScripts } from './driver-sign-in.tsx';
import { Figure, RequestCard } from './request-card.tsx';

/** The driver's page. Its script shows one screen at a time and fills it in. */
export function drivePage(
  { driverId, name, plate, vehicle, own }: ActiveDriver,
  { biddingTimeoutMs, dispatch, tiles }: Pick<Config, 'biddingTimeoutMs' | 'dispatch' | 'tiles'>,
): string {
  return renderDocument({
    title: 'Drive',
    kind: 'drive',
    scripts: ['drive-page.js'],
    children: (
      <>
        <header class="top-bar">
          <div class="driver-name">
            <p class="name">{name}</p>
            <p class="quiet">{`${plate}, ${vehicle}`}</p>
          </div>
          <button class="second-action" id="go-offline" type="button" hidden>
            Go offline
          </button>
          <form method="post" action="/drive/sign-out" id="sign-out">
            <button class="text-action" type="submit">
              Sign out
            </button>
          </form>
        </header>
        <p class="bar" id="bar" data-kind="quiet">
          Connecting…
        </p>
        <p class="spoken" role="status" id="spoken" />
        <main id="drive" data-driver={driverId} data-bidding-ms={biddingTimeoutMs}>
          <NeedsScripts>
            Without it you cannot go online. If you are on a ride, you can drive it:{' '}
            <a class="second-action" href="/drive/ride">
              Show your ride
            </a>
          </NeedsScripts>
          <OfflineScreen />
          <WaitingScreen radiusKm={dispatch.rounds[0]?.radiusKm} />
          <ResultScreen />
          <Today own={own} />
          <ul class="cards" id="cards" aria-label="Requests" hidden />
          <RideScreen tiles={tiles} />
        </main>
        <Dock />
        <ConfirmDialog step="complete" />
        <ConfirmDialog step="cancel" />
        <template id="card">
          <RequestCard />
        </template>
      </>
    ),
  });
}

const OfflineScreen = () => (
  <section class="screen" id="offline-screen" hidden>
    <h1 id="offline-title" tabIndex={-1}>
      You are offline
    </h1>
    <p id="offline-hint">
      Go online to receive requests near you. Your position is used while you are online or on a ride.
    </p>
    <p class="quiet" id="offers-live" hidden>
      A partner can accept your offers until you withdraw them.
    </p>
  </section>
);

const WaitingScreen = ({ radiusKm }: { radiusKm?: number }) => (
  <section class="screen" id="waiting-screen" hidden>
    <h1 id="waiting-title" tabIndex={-1}>
      Waiting for requests
    </h1>
    <p id="waiting-reason">{`No open rides within ${radiusKm} km. You receive new ones at once.`}</p>
    <p class="quiet" id="waiting-hint">
      Keep this page open: while you use another app, your phone may not report your position.
    </p>
  </section>
);

/** The driver's day, and the state of the connection. Its space is reserved until the numbers are known. */
const Today = ({ own }: Pick<ActiveDriver, 'own'>) => (
  <section class="today" id="today" aria-labelledby="today-title" hidden>
    <div class="today-head">
      <h2 id="today-title">Today</h2>
      {own.ratedRides && <p class="quiet">{`Rated ${ratingText(own.rating)} from ${own.ratedRides} rides`}</p>}
    </div>
    <dl class="terms">
      <Figure id="today-earned" label="Earned" value="–" />
      <Figure id="today-trips" label="Trips" value="–" />
    </dl>
    <dl class="terms">
      <div>
        <dt>Last trip</dt>
        <dd>
          <span id="last-price">–</span>
          <small>
            <span id="last-distance" />
            <time id="last-at" />
          </small>
        </dd>
      </div>
      <div>
        <dt>Connection</dt>
        <dd>
          <span id="connection">–</span>
          <small id="position-sent" />
        </dd>
      </div>
    </dl>
  </section>
);

const RideScreen = ({ tiles }: Pick<Config, 'tiles'>) => (
  <section class="screen" id="ride-screen" aria-labelledby="ride-title" hidden>
    <p class="eyebrow" id="ride-eyebrow" />
    <h1 id="ride-title" tabIndex={-1}>
      Your ride
    </h1>
    <section class="stop to" aria-labelledby="to-label">
      <h2 id="to-label">Pickup</h2>
      <p id="to-text" />
    </section>
    <section class="notes" id="messages" aria-labelledby="messages-label" hidden>
      <h2 id="messages-label">Messages</h2>
      <ul id="messages-list" />
    </section>
    <label class="notes pin" id="pin" hidden>
      PIN of the passenger
      <input id="pin-code" inputMode="numeric" autocomplete="off" maxLength={4} />
    </label>
    <section class="passenger" id="passenger" aria-label="Passenger">
      <p class="name" id="passenger-name" />
      <p class="quiet" id="passenger-phone" />
    </section>
    <section class="notes" id="notes" aria-labelledby="notes-label">
      <h2 id="notes-label">Notes</h2>
      <p id="notes-text" />
    </section>
    <dl class="terms">
      <Figure id="ride-price" label="Fare" />
      <Figure id="ride-distance" label="Trip" />
      <Figure id="ride-passengers" label="Passengers" />
    </dl>
    <section class="stop next" id="next" aria-labelledby="next-label">
      <h2 id="next-label">Then to the destination</h2>
      <p id="next-text" />
    </section>
    {tiles && (
      <div class="ride-map track" id="trip-map" data-script={assetUrl('trip-map.browser.js')} {...mapData(tiles)} />
    )}
    <button class="second-action" id="read-aloud" type="button" aria-pressed="false" hidden>
      Read messages aloud
    </button>
  </section>
);

const ResultScreen = () => (
  <section class="screen" id="result-screen" aria-labelledby="result-title" hidden>
    <h1 id="result-title" tabIndex={-1}>
      The ride has ended
    </h1>
    <p class="amount" id="result-amount" />
    <p id="result-text" />
  </section>
);

/** The next actions of every screen, in reach of a thumb. */
const Dock = () => (
  <footer class="dock" id="dock" hidden>
    <button class="main-action" id="go-online" type="button" hidden>
      Go online
    </button>
    <a class="second-action to-maps" id="maps" href="geo:0,0" rel="noreferrer" hidden>
      Open in maps
    </a>
    <a class="second-action call" id="call" href="tel:" hidden>
      Call
    </a>
    <button class="text-action danger cancel" id="cancel" type="button" data-hold hidden>
      Cancel ride
      <small id="cancel-hint" aria-hidden="true">
        Hold
      </small>
    </button>
    <button class="main-action step" id="step" type="button" hidden>
      <span id="step-text" />
      <small id="step-hint" aria-hidden="true" hidden>
        Hold
      </small>
    </button>
    <button class="main-action" id="continue" type="button" hidden>
      Continue
    </button>
  </footer>
);

/** Asks before a step that cannot be undone, if its button was pressed but could not be held. */
function ConfirmDialog({ step }: { step: keyof typeof confirmWords }) {
  const { title, text, keep, button } = confirmWords[step];
  return (
    <dialog id={`${step}-dialog`} aria-labelledby={`${step}-title`}>
      <h2 id={`${step}-title`}>{title}</h2>
      <p>{text}</p>
      <form method="dialog">
        <button class={step === 'cancel' ? 'main-action' : 'second-action'} type="submit" value="keep">
          {keep}
        </button>
        <button class={step === 'cancel' ? 'second-action danger' : 'main-action'} type="submit" value={step}>
          {button}
        </button>
      </form>
    </dialog>
  );
}
