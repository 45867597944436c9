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
import type { FinalStep } from './actions.ts';
import { type DriveLanguage, driveWords } from './drive-words.ts';
import { NeedsScripts } from './driver-sign-in.tsx';
import type { DriveKey } from './languages/drive-english.ts';
import { RequestCard } from './request-card.tsx';
import { Figure, RideCards, StopLinks, TextCard } from './ride-cards.tsx';

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
          <LanguageMenu locale={locale} />
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

function RideScreen({ tiles, language }: Pick<Config, 'tiles'> & { language: DriveLanguage }) {
  const { locale, text } = language;
  const map = mapLanguage(locale);
  return (
    <section class="screen" id="ride-screen" aria-labelledby="ride-title" hidden>
      <p class="eyebrow" id="ride-eyebrow" />
      <h1 id="ride-title" tabIndex={-1}>
        {text('ride')}
      </h1>
      <TextCard name="to" kind="stop to" label={text('pickup')} />
      <RideCards texts={driveWords(language)}>
        <label class="card field" id="pin" hidden>
          {text('page.pin')}
          <input id="pin-code" inputMode="numeric" autocomplete="off" maxLength={4} />
        </label>
      </RideCards>
      <TextCard name="next" kind="stop next" label={text('page.then')} />
      {tiles && (
        <div class="ride-map track" id="trip-map" data-script={assetUrl('trip-map.browser.js')}>
          <section aria-label={map.text('page.map')} {...mapData(tiles, mapNames(map))} />
        </div>
      )}
      <button class="btn second" id="read-aloud" type="button" aria-pressed="false" hidden>
        {text('page.readAloud')}
      </button>
    </section>
  );
}

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
    <StopLinks text={text} />
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
const ConfirmDialog = ({ step, text }: WithText & { step: FinalStep }) => (
  <dialog id={`${step}-dialog`} aria-labelledby={`${step}-title`}>
    <h2 id={`${step}-title`}>{text(`page.${step}.title`)}</h2>
    <p>{text(`page.${step}.text`)}</p>
    <form class="stack" method="dialog">
      <button class={step === 'cancel' ? 'btn main' : 'btn second'} type="submit" value="keep">
        {text(`page.${step}.keep`)}
      </button>
      <button class={step === 'cancel' ? 'btn danger' : 'btn main'} type="submit" value={step}>
        {text(`page.${step}.button`)}
      </button>
    </form>
  </dialog>
);
