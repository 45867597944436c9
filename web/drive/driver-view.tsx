import type { Config } from '../../shared/base/config.ts';
import type { ActiveDriver } from '../../shared/drivers/driver.ts';
import { assetUrl } from '../kit/assets.ts';
import { renderDocument } from '../kit/document.tsx';
import { LanguageMenu } from '../kit/language-menu.tsx';
import { type PageLanguage, scriptTexts } from '../kit/languages.ts';
import { mapData } from '../kit/map-data.ts';
import { ratingIn } from '../kit/message-format.ts';
import { PageData } from '../kit/page-data.tsx';
import { mapLanguage, mapNames } from '../track/map-languages.ts';
import { confirmWords, type DriveLanguage } from './drive-words.ts';
import { NeedsScripts } from './driver-sign-in.tsx';
import type { DriveKey } from './languages/drive-english.ts';
import { Figure, RequestCard } from './request-card.tsx';

/** The driver's page. Its script shows one screen at a time and fills it in. */
export function drivePage(
  { driverId, name, plate, vehicle, own }: ActiveDriver,
  { biddingTimeoutMs, dispatch, tiles }: Pick<Config, 'biddingTimeoutMs' | 'dispatch' | 'tiles'>,
  language: PageLanguage<DriveKey>,
): string {
  const { locale, text } = language;
  return renderDocument({
    title: text('page.title'),
    locale,
    kind: 'drive',
    scripts: ['drive-page.js'],
    children: (
      <>
        <PageData id="texts" data={scriptTexts(language)} />
        <header class="top-bar">
          <div class="driver-name">
            <p dir="auto">
              <strong>{name}</strong>
            </p>
            <p class="quiet" dir="auto">{`${plate}, ${vehicle}`}</p>
          </div>
          <button class="btn second" id="go-offline" type="button" hidden>
            {text('goOffline')}
          </button>
          <form method="post" action="/drive/sign-out" id="sign-out">
            <button class="btn quiet-btn" type="submit">
              {text('page.signOut')}
            </button>
          </form>
          <LanguageMenu locale={locale} label={text('page.language')} />
        </header>
        <p class="bar" id="bar" data-kind="quiet">
          {text('connecting')}
        </p>
        <p class="spoken" role="status" id="spoken" />
        <main id="drive" data-driver={driverId} data-bidding-ms={biddingTimeoutMs}>
          <NeedsScripts language={language}>
            {text('page.scripts.ride')}{' '}
            <a class="btn second" href="/drive/ride">
              {text('page.scripts.show')}
            </a>
          </NeedsScripts>
          <OfflineScreen text={text} />
          <WaitingScreen radiusKm={dispatch.rounds[0]?.radiusKm ?? 0} text={text} />
          <ResultScreen text={text} />
          <Today own={own} language={language} />
          <ul class="cards stack" id="cards" aria-label={text('page.requests')} hidden />
          <RideScreen tiles={tiles} language={language} />
        </main>
        <Dock text={text} />
        <ConfirmDialog step="complete" text={text} />
        <ConfirmDialog step="cancel" text={text} />
        <template id="card">
          <RequestCard text={text} />
        </template>
      </>
    ),
  });
}

type WithText = Pick<DriveLanguage, 'text'>;

const OfflineScreen = ({ text }: WithText) => (
  <section class="screen" id="offline-screen" hidden>
    <h1 id="offline-title" tabIndex={-1}>
      {text('offline')}
    </h1>
    <p id="offline-hint">{text('page.offline.hint')}</p>
    <p class="quiet" id="offers-live" hidden>
      {text('page.offline.offers')}
    </p>
  </section>
);

const WaitingScreen = ({ radiusKm, text }: WithText & { radiusKm: number }) => (
  <section class="screen" id="waiting-screen" hidden>
    <h1 id="waiting-title" tabIndex={-1}>
      {text('waiting')}
    </h1>
    <p id="waiting-reason">{text('page.waiting.reason', { km: radiusKm })}</p>
    <p class="quiet" id="waiting-hint">
      {text('page.waiting.hint')}
    </p>
  </section>
);

/** The driver's day, and the state of the connection. Its space is reserved until the numbers are known. */
const Today = ({ own, language: { locale, text } }: Pick<ActiveDriver, 'own'> & { language: DriveLanguage }) => (
  <section class="card today" id="today" aria-labelledby="today-title" hidden>
    <div class="today-head apart">
      <h2 id="today-title">{text('page.today')}</h2>
      {own.ratedRides && (
        <p class="quiet">{text('page.rated', { rating: ratingIn(locale, own.rating), rides: own.ratedRides })}</p>
      )}
    </div>
    <dl class="terms apart">
      <Figure id="today-earned" label={text('page.earned')} value="–" />
      <Figure id="today-trips" label={text('page.trips')} value="–" />
    </dl>
    <dl class="terms apart">
      <div>
        <dt>{text('page.lastTrip')}</dt>
        <dd>
          <span id="last-price">–</span>
          <small>
            <span id="last-distance" />
            <time id="last-at" />
          </small>
        </dd>
      </div>
      <div>
        <dt>{text('page.connection')}</dt>
        <dd>
          <span id="connection">–</span>
          <small id="position-sent" />
        </dd>
      </div>
    </dl>
  </section>
);

const RideScreen = ({ tiles, language: { locale, text } }: Pick<Config, 'tiles'> & { language: DriveLanguage }) => (
  <section class="screen" id="ride-screen" aria-labelledby="ride-title" hidden>
    <p class="eyebrow" id="ride-eyebrow" />
    <h1 id="ride-title" tabIndex={-1}>
      {text('ride')}
    </h1>
    <section class="card stop to" aria-labelledby="to-label">
      <h2 id="to-label">{text('pickup')}</h2>
      <p>
        <bdi id="to-text" />
      </p>
    </section>
    <section class="card notes" id="messages" aria-labelledby="messages-label" hidden>
      <h2 id="messages-label">{text('page.messages')}</h2>
      <ul id="messages-list" />
    </section>
    <label class="card field" id="pin" hidden>
      {text('page.pin')}
      <input id="pin-code" inputMode="numeric" autocomplete="off" maxLength={4} />
    </label>
    <section class="card passenger" id="passenger" aria-label={text('passenger')}>
      <p>
        <strong>
          <bdi id="passenger-name" />
        </strong>
      </p>
      <p class="quiet">
        <bdi id="passenger-phone" dir="ltr" />
      </p>
    </section>
    <section class="card notes" id="notes" aria-labelledby="notes-label">
      <h2 id="notes-label">{text('page.notes')}</h2>
      <p>
        <bdi id="notes-text" />
      </p>
    </section>
    <dl class="terms apart">
      <Figure id="ride-price" label={text('page.fare')} />
      <Figure id="ride-distance" label={text('page.trip')} />
      <Figure id="ride-passengers" label={text('page.passengers')} />
    </dl>
    <section class="card stop next" id="next" aria-labelledby="next-label">
      <h2 id="next-label">{text('page.then')}</h2>
      <p>
        <bdi id="next-text" />
      </p>
    </section>
    {tiles && (
      <div
        class="ride-map track"
        id="trip-map"
        data-script={assetUrl('trip-map.browser.js')}
        {...mapData(tiles, mapNames(mapLanguage(locale)))}
      />
    )}
    <button class="btn second" id="read-aloud" type="button" aria-pressed="false" hidden>
      {text('page.readAloud')}
    </button>
  </section>
);

const ResultScreen = ({ text }: WithText) => (
  <section class="screen" id="result-screen" aria-labelledby="result-title" hidden>
    <h1 id="result-title" tabIndex={-1}>
      {text('ended')}
    </h1>
    <p class="amount" id="result-amount" />
    <p id="result-text" />
  </section>
);

/** The next actions of every screen, in reach of a thumb. */
const Dock = ({ text }: WithText) => (
  <footer class="dock" id="dock" hidden>
    <button class="btn main" id="go-online" type="button" hidden>
      {text('goOnline')}
    </button>
    <a class="btn second to-maps" id="maps" href="geo:0,0" rel="noreferrer" hidden>
      {text('maps')}
    </a>
    <a class="btn second call" id="call" href="tel:" hidden>
      {text('page.call')}
    </a>
    <button class="btn quiet-btn danger cancel" id="cancel" type="button" data-hold hidden>
      {text('step.cancel')}
      <small id="cancel-hint" aria-hidden="true">
        {text('hold')}
      </small>
    </button>
    <button class="btn main step" id="step" type="button" hidden>
      <span id="step-text" />
      <small id="step-hint" aria-hidden="true" hidden>
        {text('hold')}
      </small>
    </button>
    <button class="btn main" id="continue" type="button" hidden>
      {text('page.continue')}
    </button>
  </footer>
);

/** Asks before a step that cannot be undone, if its button was pressed but could not be held. */
function ConfirmDialog({ step, text }: WithText & { step: keyof typeof confirmWords }) {
  const words = confirmWords[step];
  return (
    <dialog id={`${step}-dialog`} aria-labelledby={`${step}-title`}>
      <h2 id={`${step}-title`}>{text(words.title)}</h2>
      <p>{text(words.text)}</p>
      <form class="stack" method="dialog">
        <button class={step === 'cancel' ? 'btn main' : 'btn second'} type="submit" value="keep">
          {text(words.keep)}
        </button>
        <button class={step === 'cancel' ? 'btn danger' : 'btn main'} type="submit" value={step}>
          {text(words.button)}
        </button>
      </form>
    </dialog>
  );
}
