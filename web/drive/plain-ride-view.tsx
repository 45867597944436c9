import type { ComponentChildren } from 'preact';
import type { ShownRide } from '../../shared/rides/driver/driver-schemas.ts';
import { renderDocument } from '../kit/document.tsx';
import type { Step } from './actions.ts';
import {
  confirmWords,
  etaWords,
  kilometers,
  mapAddress,
  money,
  nextStop,
  notesOf,
  pickupWords,
  placeWords,
  rideWords,
} from './drive-words.ts';
import { Figure } from './request-card.tsx';

interface Notice {
  /** The step that has just ended the ride. */
  done: string;
  /** The last step was refused. */
  isRefused: boolean;
  userAgent: string;
}

/** The driver's ride and its next step, for a browser without scripts. */
export function plainRidePage(ride: ShownRide | null, { done, isRefused, userAgent }: Notice): string {
  const words = ride && rideWords[ride.status];
  return page({
    title: words?.title ?? endWords(done),
    notice: isRefused
      ? 'That was not possible: the ride has changed, or the PIN is wrong. This is its present state.'
      : undefined,
    children: ride && words ? <Ride ride={ride} /> : <p>You are not on a ride.</p>,
    dock: ride && words && <Dock ride={ride} step={words.step} button={words.button} userAgent={userAgent} />,
  });
}

const endWords = (done: Notice['done']): string =>
  done === 'complete' ? 'Trip completed' : done === 'cancel' ? 'You cancelled the ride' : 'No ride';

function Ride({ ride }: { ride: ShownRide }) {
  const { passenger, agreedPrice, distanceKm, passengerCount } = ride;
  const notes = notesOf(ride);
  const stop = nextStop(ride);
  return (
    <>
      <section class="stop to">
        <h2>{stop === ride.pickup ? 'Pickup' : 'Destination'}</h2>
        <p>{placeWords(stop)}</p>
        {ride.eta && <p class="quiet">{etaWords(ride)}</p>}
        {ride.pickupAt && stop === ride.pickup && (
          <p class="quiet">{pickupWords(ride, { timeZone: 'UTC', timeZoneName: 'short' })}</p>
        )}
      </section>
      {passenger && (
        <section class="passenger">
          <p class="name">{passenger.name || 'Passenger'}</p>
          <p class="quiet">{passenger.phone}</p>
        </section>
      )}
      {ride.messages && (
        <section class="notes">
          <h2>Messages</h2>
          <ul>
            {ride.messages.map(({ number, text }) => (
              <li key={number}>{text}</li>
            ))}
          </ul>
        </section>
      )}
      {notes && (
        <section class="notes">
          <h2>Notes</h2>
          <p>{notes}</p>
        </section>
      )}
      <dl class="terms">
        <Figure id="ride-price" label="Fare" value={money(agreedPrice)} />
        <Figure id="ride-distance" label="Trip" value={kilometers(distanceKm)} />
        <Figure id="ride-passengers" label="Passengers" value={String(passengerCount)} />
      </dl>
    </>
  );
}

/** The next actions, in reach of a thumb. */
function Dock({ ride, step, button, userAgent }: { ride: ShownRide; step: Step; button: string; userAgent: string }) {
  const call = ride.passenger?.callUrl;
  return (
    <footer class="dock">
      <a class="second-action to-maps" href={mapAddress(nextStop(ride), userAgent)} rel="noreferrer">
        Open in maps
      </a>
      {call && (
        <a class="second-action call" href={call}>
          Call
        </a>
      )}
      <StepForm step="cancel" rideId={ride.rideId}>
        <button class="text-action danger" type="submit">
          Cancel ride
        </button>
      </StepForm>
      <StepForm step={step} rideId={ride.rideId} isNext>
        {ride.pin && step === 'start' && (
          <label>
            PIN of the passenger
            <input name="pin" inputMode="numeric" autocomplete="off" maxLength={4} required />
          </label>
        )}
        <button class="main-action" type="submit">
          {button}
        </button>
      </StepForm>
    </footer>
  );
}

/** Asks before a step that cannot be undone. */
export function confirmPage(step: keyof typeof confirmWords, rideId: string): string {
  const { title, text, keep, button } = confirmWords[step];
  const isCancel = step === 'cancel';
  return page({
    title,
    children: (
      <>
        <p>{text}</p>
        <StepForm step={step} rideId={rideId}>
          <input type="hidden" name="confirmed" value="yes" />
          <button class={isCancel ? 'second-action danger' : 'main-action'} type="submit">
            {button}
          </button>
        </StepForm>
        <p>
          <a class={isCancel ? 'main-action' : 'second-action'} href="/drive/ride">
            {keep}
          </a>
        </p>
      </>
    ),
  });
}

interface StepFields {
  step: Step;
  rideId: string;
  isNext?: boolean;
  children: ComponentChildren;
}

const StepForm = ({ step, rideId, isNext, children }: StepFields) => (
  <form class={isNext ? 'step' : step} method="post" action="/drive/ride">
    <input type="hidden" name="rideId" value={rideId} />
    <input type="hidden" name="step" value={step} />
    {children}
  </form>
);

interface Contents {
  title: string;
  notice?: string;
  children: ComponentChildren;
  dock?: ComponentChildren;
}

function page({ title, notice, children, dock }: Contents): string {
  return renderDocument({
    title,
    kind: 'drive drive-plain',
    children: (
      <>
        <main>
          {notice && (
            <p class="wrong" role="alert">
              {notice}
            </p>
          )}
          <h1>{title}</h1>
          {children}
          <p class="quiet">
            <a href="/drive/ride">Load the ride again</a> <a href="/drive">Page with scripts</a>
          </p>
        </main>
        {dock}
      </>
    ),
  });
}
