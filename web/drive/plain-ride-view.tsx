import type { ComponentChildren } from 'preact';
import type { ShownRide } from '../../shared/rides/driver/driver-schemas.ts';
import { renderDocument } from '../kit/document.tsx';
import { LanguageMenu } from '../kit/language-menu.tsx';
import type { Step } from './actions.ts';
import {
  confirmWords,
  type DriveLanguage,
  type DriveWords,
  driveWords,
  mapAddress,
  nextStop,
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
export function plainRidePage(
  language: DriveLanguage,
  ride: ShownRide | null,
  { done, isRefused, userAgent }: Notice,
): string {
  const texts = driveWords(language);
  const { text } = texts;
  const words = ride && rideWords[ride.status];
  return page(language, {
    title: text(words?.title ?? endKey(done)),
    notice: isRefused ? text('page.refused') : undefined,
    children: ride && words ? <Ride ride={ride} texts={texts} /> : <p>{text('page.noRide.text')}</p>,
    dock: ride && words && (
      <Dock ride={ride} step={words.step} button={text(words.button)} userAgent={userAgent} text={text} />
    ),
  });
}

const endKey = (done: Notice['done']) =>
  done === 'complete' ? 'completed' : done === 'cancel' ? 'cancelled.self' : 'page.noRide';

function Ride({ ride, texts }: { ride: ShownRide; texts: DriveWords }) {
  const { text } = texts;
  const { passenger, agreedPrice, distanceKm, passengerCount } = ride;
  const notes = texts.notesOf(ride);
  const stop = nextStop(ride);
  return (
    <>
      <section class="card stop to">
        <h2>{text(stop === ride.pickup ? 'pickup' : 'destination')}</h2>
        <p>
          <bdi>{placeWords(stop)}</bdi>
        </p>
        {texts.etaWords(ride) && <p class="quiet">{texts.etaWords(ride)}</p>}
        {ride.pickupAt && stop === ride.pickup && (
          <p class="quiet">{texts.pickupWords(ride, { timeZone: 'UTC', timeZoneName: 'short' })}</p>
        )}
      </section>
      {passenger && (
        <section class="card passenger">
          <p>
            <strong>
              <bdi>{passenger.name || text('passenger')}</bdi>
            </strong>
          </p>
          <p class="quiet">
            <bdi dir="ltr">{passenger.phone}</bdi>
          </p>
        </section>
      )}
      {ride.messages && (
        <section class="card notes">
          <h2>{text('page.messages')}</h2>
          <ul>
            {ride.messages.map((message) => (
              <li key={message.number}>
                <bdi>{message.text}</bdi>
              </li>
            ))}
          </ul>
        </section>
      )}
      {notes && (
        <section class="card notes">
          <h2>{text('page.notes')}</h2>
          <p>
            <bdi>{notes}</bdi>
          </p>
        </section>
      )}
      <dl class="terms apart">
        <Figure id="ride-price" label={text('page.fare')} value={texts.money(agreedPrice)} />
        <Figure id="ride-distance" label={text('page.trip')} value={texts.kilometers(distanceKm)} />
        <Figure
          id="ride-passengers"
          label={text('page.passengers')}
          value={passengerCount.toLocaleString(texts.locale)}
        />
      </dl>
    </>
  );
}

interface DockProps extends Pick<DriveLanguage, 'text'> {
  ride: ShownRide;
  step: Step;
  button: string;
  userAgent: string;
}

/** The next actions, in reach of a thumb. */
function Dock({ ride, step, button, userAgent, text }: DockProps) {
  const call = ride.passenger?.callUrl;
  return (
    <footer class="dock">
      <a class="btn second to-maps" href={mapAddress(nextStop(ride), userAgent)} rel="noreferrer">
        {text('maps')}
      </a>
      {call && (
        <a class="btn second call" href={call}>
          {text('page.call')}
        </a>
      )}
      <StepForm step="cancel" rideId={ride.rideId}>
        <button class="btn quiet-btn danger" type="submit">
          {text('step.cancel')}
        </button>
      </StepForm>
      <StepForm step={step} rideId={ride.rideId} isNext>
        {ride.pin && step === 'start' && (
          <label>
            {text('page.pin')}
            <input name="pin" inputMode="numeric" autocomplete="off" maxLength={4} required />
          </label>
        )}
        <button class="btn main" type="submit">
          {button}
        </button>
      </StepForm>
    </footer>
  );
}

/** Asks before a step that cannot be undone. */
export function confirmPage(language: DriveLanguage, step: keyof typeof confirmWords, rideId: string): string {
  const { text } = language;
  const words = confirmWords[step];
  const isCancel = step === 'cancel';
  return page(language, {
    title: text(words.title),
    children: (
      <>
        <p>{text(words.text)}</p>
        <StepForm step={step} rideId={rideId}>
          <input type="hidden" name="confirmed" value="yes" />
          <button class={isCancel ? 'btn danger' : 'btn main'} type="submit">
            {text(words.button)}
          </button>
        </StepForm>
        <p>
          <a class={isCancel ? 'btn main' : 'btn second'} href="/drive/ride">
            {text(words.keep)}
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

function page({ locale, text }: DriveLanguage, { title, notice, children, dock }: Contents): string {
  return renderDocument({
    title,
    locale,
    kind: 'drive drive-plain',
    children: (
      <>
        <main>
          {notice && (
            <p class="notice bad" role="alert">
              {notice}
            </p>
          )}
          <h1>{title}</h1>
          {children}
          <LanguageMenu locale={locale} label={text('page.language')} />
          <p class="links">
            <a href="/drive/ride">{text('page.reload')}</a> <a href="/drive">{text('page.scripts.with')}</a>
          </p>
        </main>
        {dock}
      </>
    ),
  });
}
