import type { ComponentChildren } from 'preact';
import type { ShownRide } from '../../shared/rides/driver/driver-schemas.ts';
import { renderDocument } from '../kit/document.tsx';
import { LanguageMenu } from '../kit/language-menu.tsx';
import type { FinalStep, Step } from './actions.ts';
import { type DriveLanguage, type DriveWords, driveWords, nextStop, placeWords, rideWords } from './drive-words.ts';
import { RideCards, StopLinks, TextCard } from './ride-cards.tsx';

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
    dock: ride && words && <Dock ride={ride} step={words.step} userAgent={userAgent} text={text} />,
  });
}

const endKey = (done: Notice['done']) =>
  done === 'complete' ? 'completed' : done === 'cancel' ? 'cancelled.self' : 'page.noRide';

function Ride({ ride, texts }: { ride: ShownRide; texts: DriveWords }) {
  const { text } = texts;
  const stop = nextStop(ride);
  const label = text(stop === ride.pickup ? 'pickup' : 'destination');
  return (
    <>
      <TextCard name="to" kind="stop to" label={label} text={placeWords(stop)}>
        {texts.etaWords(ride) && <p class="quiet">{texts.etaWords(ride)}</p>}
        {ride.pickupAt && stop === ride.pickup && (
          <p class="quiet">{texts.pickupWords(ride, { timeZone: 'UTC', timeZoneName: 'short' })}</p>
        )}
      </TextCard>
      <RideCards texts={texts} ride={ride} />
    </>
  );
}

interface DockProps extends Pick<DriveLanguage, 'text'> {
  ride: ShownRide;
  step: Step;
  userAgent: string;
}

/** The next actions, in reach of a thumb. */
const Dock = ({ ride, step, userAgent, text }: DockProps) => (
  <footer class="dock">
    <StopLinks text={text} ride={ride} userAgent={userAgent} />
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
        {text(`step.${step}`)}
      </button>
    </StepForm>
  </footer>
);

/** Asks before a step that cannot be undone. */
export function confirmPage(language: DriveLanguage, step: FinalStep, rideId: string): string {
  const { text } = language;
  const isCancel = step === 'cancel';
  return page(language, {
    title: text(`page.${step}.title`),
    children: (
      <>
        <p>{text(`page.${step}.text`)}</p>
        <StepForm step={step} rideId={rideId}>
          <input type="hidden" name="confirmed" value="yes" />
          <button class={isCancel ? 'btn danger' : 'btn main'} type="submit">
            {text(`page.${step}.button`)}
          </button>
        </StepForm>
        <p>
          <a class={isCancel ? 'btn main' : 'btn second'} href="/drive/ride">
            {text(`page.${step}.keep`)}
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
          <LanguageMenu locale={locale} />
          <p class="links">
            <a href="/drive/ride">{text('page.reload')}</a> <a href="/drive">{text('page.scripts.with')}</a>
          </p>
        </main>
        {dock}
      </>
    ),
  });
}
