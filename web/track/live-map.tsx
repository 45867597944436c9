import type { Config } from '../../shared/base/config.ts';
import { renderDocument } from '../kit/document.tsx';
import { LanguageMenu } from '../kit/language-menu.tsx';
import { type PageLanguage, scriptTexts } from '../kit/languages.ts';
import { mapData } from '../kit/map-data.ts';
import { ratingIn } from '../kit/message-format.ts';
import { PageData } from '../kit/page-data.tsx';
import type { MapKey } from './languages/map-english.ts';
import { mapNames } from './map-languages.ts';
import { RatingForm } from './rating-form.tsx';
import type { TrackState } from './track-state.ts';
import { destinationWords, type MapLanguage, shownDriver, shownSteps, utcText, wordsFor } from './track-words.ts';

interface LiveMapOptions extends Pick<Config, 'tiles' | 'help'> {
  language: PageLanguage<MapKey>;
  /** The path to which the form of the rating is sent. */
  ratingPath: string;
}

/** Renders the public live map. All facts are also shown as text beside the map, which works without scripts. */
export function liveMap(state: TrackState, { language, tiles, help, ratingPath }: LiveMapOptions): string {
  const { locale, text } = language;
  const { headline, when, status } = wordsFor(state, state.now, language, 'UTC');
  return renderDocument({
    title: headline,
    locale,
    kind: 'track',
    scripts: ['track-page.js'],
    children: (
      <>
        <PageData id="state" data={state} />
        <PageData id="texts" data={scriptTexts(language)} />
        <a class="skip-link" href="#facts">
          {text('page.skip')}
        </a>
        <section id="map" aria-label={text('page.map')} {...mapData(tiles, mapNames(language))} />
        <main id="facts" class="sheet" tabIndex={-1} data-status={state.status}>
          {state.testMode && <p class="test-band">{text('page.test')}</p>}
          <div class="answer" id="answer">
            <div>
              <h1 id="headline">{headline}</h1>
              <p id="when" hidden={!when}>
                {when && (
                  <>
                    {when.before}
                    <ClockTime at={when.at} />
                    {when.after}
                  </>
                )}
              </p>
              <p id="status">{status}</p>
              <p class="spoken" role="status" id="spoken" />
              <p class="quiet" id="seen" hidden />
              <p class="lost" id="connection" hidden>
                {text('page.connectionLost')}
              </p>
            </div>
            {/* A checkbox, because it shows and hides the details without scripts too. */}
            <input type="checkbox" id="show-details" class="sheet-toggle" aria-label={text('page.details')} />
          </div>
          <p class="pin" id="pin" hidden={!state.pin}>
            <bdi>{text('page.pin')}</bdi> <strong id="pin-code">{state.pin}</strong>
          </p>
          <DriverCard driver={shownDriver(state)} language={language} />
          <RatingForm path={ratingPath} state={state} language={language} />
          <div class="actions">
            <button type="button" class="btn second share" id="share">
              {text('share')}
            </button>
            {help && <HelpLink {...help} label={text('page.help')} />}
            <LanguageMenu locale={locale} />
          </div>
          <div class="details">
            <Places {...state} language={language} />
            <Steps state={state} language={language} />
          </div>
          <noscript>
            <p class="quiet note">{text('page.noScripts')}</p>
          </noscript>
        </main>
      </>
    ),
  });
}

/** In UTC. The script shows it in the reader's time zone. */
function ClockTime({ at }: { at: number }) {
  const exact = utcText(at);
  return (
    <time dateTime={new Date(at).toISOString()} title={exact} dir="auto">
      {exact.slice(11)}
    </time>
  );
}

function HelpLink({ url, phone, label }: NonNullable<Config['help']> & { label: string }) {
  const inNewTab = phone ? {} : { target: '_blank', rel: 'noopener' };
  return (
    <a class="btn second" id="help" href={url} {...inNewTab}>
      {label}{' '}
      {phone && (
        <span class="quiet light nowrap" dir="ltr">
          {phone}
        </span>
      )}
    </a>
  );
}

interface InLanguage {
  language: MapLanguage;
}

function DriverCard({ driver, language }: Pick<TrackState, 'driver'> & InLanguage) {
  return (
    <section class="driver" id="driver" aria-label={language.text('page.driver')} hidden={!driver}>
      <p class="plate" id="plate" dir="auto">
        {driver?.plate}
      </p>
      <div>
        <p>
          <bdi id="vehicle">{driver?.vehicle}</bdi>
        </p>
        <p class="quiet">
          <bdi id="first-name">{driver?.firstName}</bdi>{' '}
          <bdi id="rating">{driver && ratingIn(language.locale, driver.rating)}</bdi>
        </p>
      </div>
    </section>
  );
}

function Places({ pickup, destination, language }: Pick<TrackState, 'pickup' | 'destination'> & InLanguage) {
  return (
    <dl class="places">
      {pickup.address && (
        <div class="way-from">
          <dt>{language.text('page.pickup')}</dt>
          <dd class="lines">
            <bdi>{pickup.address}</bdi>
          </dd>
        </div>
      )}
      <div class="way-to">
        <dt>{language.text('page.destination')}</dt>
        <dd class="lines">
          <bdi id="destination">{destinationWords({ pickup, destination }, language)}</bdi>
        </dd>
      </div>
    </dl>
  );
}

function Steps({ state, language: { text } }: { state: TrackState } & InLanguage) {
  return (
    <ol class="steps" id="steps" aria-label={text('page.steps')}>
      {shownSteps(state).map(({ status, at, kind }) => (
        <li key={status} data-step={status} class={kind} aria-current={kind === 'present' ? 'step' : undefined}>
          <span>{text(`step.${status}`)}</span>
          {at !== undefined && <ClockTime at={at} />}
        </li>
      ))}
    </ol>
  );
}
