import type { ComponentChildren } from 'preact';
import type { ShownRide } from '../drivers/fields.ts';
import { renderDocument } from '../pages/document.tsx';
import type { Step } from './actions.ts';
import { Figure } from './request-card.tsx';
import { callAddress, confirmWords, kilometers, mapAddress, money, nextStop, placeWords, rideWords } from './words.ts';

interface Notice {
  /** The step that has just ended the ride. */
  done: string | string[] | undefined;
  /** The last step was refused. */
  isRefused: boolean;
  userAgent: string;
}

/** The driver's ride and its next step, for a browser without scripts. */
export function plainRidePage(ride: ShownRide | null, { done, isRefused, userAgent }: Notice): string {
  const words = ride && rideWords[ride.status];
  return page({
    title: words?.title ?? endWords(done),
    notice: isRefused ? 'That was not possible: the ride has changed. This is its present state.' : undefined,
    children:
      ride && words ? (
        <>
          <Ride ride={ride} userAgent={userAgent} />
          <StepForm step={words.step} rideId={ride.rideId}>
            <button class="main-action" type="submit">
              {words.button}
            </button>
          </StepForm>
          <StepForm step="cancel" rideId={ride.rideId}>
            <button class="text-action danger" type="submit">
              Cancel ride
            </button>
          </StepForm>
        </>
      ) : (
        <p>You are not on a ride.</p>
      ),
  });
}

const endWords = (done: Notice['done']): string =>
  done === 'complete' ? 'Trip completed' : done === 'cancel' ? 'You cancelled the ride' : 'No ride';

function Ride({ ride, userAgent }: { ride: ShownRide; userAgent: string }) {
  const { passenger, notes, agreedPrice, distanceKm, passengerCount } = ride;
  const call = callAddress(passenger?.phone ?? '');
  const stop = nextStop(ride);
  return (
    <>
      <p>
        <a class="second-action" href={mapAddress(stop, userAgent)} rel="noreferrer">
          Open in maps
        </a>
      </p>
      <section class="stop to">
        <h2>{stop === ride.pickup ? 'Pickup' : 'Destination'}</h2>
        <p>{placeWords(stop)}</p>
      </section>
      {passenger && (
        <section class="passenger">
          <p class="name">{passenger.name || 'Passenger'}</p>
          {call && <a href={call}>{`Call ${passenger.phone}`}</a>}
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

/** Asks before a step that cannot be undone. */
export function confirmPage(step: keyof typeof confirmWords, rideId: string): string {
  const { title, text, keep, button } = confirmWords[step];
  return page({
    title,
    children: (
      <>
        <p>{text}</p>
        <StepForm step={step} rideId={rideId}>
          <input type="hidden" name="confirmed" value="yes" />
          <button class="main-action" type="submit">
            {button}
          </button>
        </StepForm>
        <p>
          <a class="second-action" href="/drive/ride">
            {keep}
          </a>
        </p>
      </>
    ),
  });
}

const StepForm = ({ step, rideId, children }: { step: Step; rideId: string; children: ComponentChildren }) => (
  <form method="post" action="/drive/ride">
    <input type="hidden" name="rideId" value={rideId} />
    <input type="hidden" name="step" value={step} />
    {children}
  </form>
);

function page({ title, notice, children }: { title: string; notice?: string; children: ComponentChildren }): string {
  return renderDocument({
    title,
    kind: 'drive drive-plain',
    children: (
      <main>
        {notice && (
          <p class="wrong" role="alert">
            {notice}
          </p>
        )}
        <h1>{title}</h1>
        {children}
        <p class="quiet">
          <a href="/drive/ride">Load the ride again</a>, or <a href="/drive">go to the page with scripts</a>.
        </p>
      </main>
    ),
  });
}
