import type { ComponentChildren } from 'preact';
import type { ActiveDriver } from '../../shared/drivers/driver.ts';
import { renderDocument } from '../pages/document.tsx';
import { NeedsScripts } from './sign-in-page.tsx';

/** The driver's page. Its script shows one screen at a time and fills it in. */
export function drivePage({ driverId, name, plate, vehicle }: ActiveDriver, biddingMs: number): string {
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
        <main id="drive" data-driver={driverId} data-bidding-ms={biddingMs}>
          <NeedsScripts />
          <OfflineScreen />
          <WaitingScreen />
          <ul class="cards" id="cards" aria-label="Requests" hidden />
          <RideScreen />
          <ResultScreen />
        </main>
        <footer class="dock" id="dock" hidden>
          <button class="main-action" id="go-online" type="button" hidden>
            Go online
          </button>
          <button class="second-action" id="go-offline" type="button" hidden>
            Go offline
          </button>
          <button class="text-action danger" id="cancel" type="button" hidden>
            Cancel ride
          </button>
          <button class="main-action" id="step" type="button" hidden />
          <button class="main-action" id="go-on" type="button" hidden>
            OK
          </button>
        </footer>
        <CancelDialog />
        <template id="card">
          <RequestCard />
        </template>
      </>
    ),
  });
}

const OfflineScreen = () => (
  <section class="screen" id="offline-screen" hidden>
    <h1>You are offline</h1>
    <p>Go online to receive requests near you. Your position is used while you are online or on a ride.</p>
    <p class="quiet" id="offers-stand" hidden>
      Your offers are still live: a partner can accept them until you withdraw them.
    </p>
  </section>
);

const WaitingScreen = () => (
  <section class="screen" id="waiting-screen" hidden>
    <h1 id="waiting-title">Waiting for requests</h1>
    <p class="quiet" id="waiting-hint">
      Keep this page open: while you use another app, your phone may not report your position.
    </p>
  </section>
);

const RideScreen = () => (
  <section class="screen" id="ride-screen" aria-labelledby="ride-title" hidden>
    <p class="eyebrow" id="ride-eyebrow" />
    <h1 id="ride-title" tabIndex={-1}>
      Your ride
    </h1>
    <section class="stop to" aria-labelledby="to-label">
      <h2 id="to-label">Pickup</h2>
      <p id="to-text" />
      <MapLink id="to-map" />
    </section>
    <section class="passenger" id="passenger" aria-label="Passenger">
      <p class="name" id="passenger-name" />
      <a class="second-action" id="passenger-phone" href="tel:">
        Call
      </a>
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
      <MapLink id="next-map" />
    </section>
  </section>
);

const ResultScreen = () => (
  <section class="screen" id="result-screen" aria-labelledby="result-title" hidden>
    <h1 id="result-title" tabIndex={-1}>
      The ride has ended
    </h1>
    <p id="result-text" />
  </section>
);

const MapLink = ({ id }: { id: string }) => (
  <a class="second-action" id={id} href="geo:0,0" rel="noreferrer">
    Open in maps
  </a>
);

const Figure = ({ id, label }: { id: string; label: string }) => (
  <div>
    <dt>{label}</dt>
    <dd id={id} />
  </div>
);

/** The template of a request. The script copies it for each one. */
const RequestCard = () => (
  <li class="card" data-state="open">
    <div class="card-head">
      <div>
        <p class="fare" data-part="fare" />
        <p class="quiet" data-part="kind" />
      </div>
      <p class="left">
        <svg viewBox="0 0 72 72" aria-hidden="true">
          <circle class="left-ground" cx="36" cy="36" r="32" />
          <circle class="left-ring" data-part="ring" cx="36" cy="36" r="32" pathLength="100" />
        </svg>
        <span>
          <span class="spoken">Time left: </span>
          <span data-part="left" />
        </span>
      </p>
    </div>
    <dl class="terms">
      <CardFigure part="pickup" label="To pickup" />
      <CardFigure part="trip" label="Trip" />
      <CardFigure part="passengers" label="Passengers" />
    </dl>
    <p class="maps">
      <a data-part="pickup-map" href="geo:0,0" rel="noreferrer">
        Pickup on the map
      </a>
      <a data-part="destination-map" href="geo:0,0" rel="noreferrer">
        Destination
      </a>
    </p>
    <div class="choice" data-for="open">
      <button class="main-action" data-part="accept" type="button">
        <span data-part="accept-text" />
        <small data-part="accept-eta" />
      </button>
      <button class="second-action" data-part="counter" type="button" aria-expanded="false">
        Counter
      </button>
    </div>
    <div class="counter" data-part="counter-panel" data-for="open" hidden>
      <Stepper name="price" label="Your price" less="Lower price" more="Higher price" />
      <Stepper name="minutes" label="At the pickup in" less="Fewer minutes" more="More minutes" />
      <button class="main-action" data-part="offer" type="button" />
    </div>
    <div class="choice" data-for="offered">
      <p data-part="offered" />
      <button class="second-action" data-part="withdraw" type="button">
        Withdraw
      </button>
    </div>
    <div class="choice" data-for="gone">
      <p data-part="gone" />
      <button class="second-action" data-part="dismiss" type="button">
        OK
      </button>
    </div>
  </li>
);

const CardFigure = ({ part, label }: { part: string; label: string }) => (
  <div>
    <dt>{label}</dt>
    <dd data-part={part} />
  </div>
);

const Stepper = ({ name, label, less, more }: { name: string; label: string; less: string; more: string }) => (
  <fieldset class="stepper">
    <legend>{label}</legend>
    <button type="button" data-part={`${name}-less`} aria-label={less}>
      −
    </button>
    <output data-part={name} />
    <button type="button" data-part={`${name}-more`} aria-label={more}>
      +
    </button>
  </fieldset>
);

const CancelDialog = (): ComponentChildren => (
  <dialog id="cancel-dialog" aria-labelledby="cancel-title">
    <h2 id="cancel-title">Cancel this ride?</h2>
    <p>The partner is notified, and no other driver is sent.</p>
    <form method="dialog">
      <button class="main-action" type="submit" value="keep">
        Keep the ride
      </button>
      <button class="second-action danger" type="submit" value="cancel">
        Cancel the ride
      </button>
    </form>
  </dialog>
);
