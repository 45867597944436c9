import type { Config } from '../../shared/base/config.ts';
import { renderDocument } from '../kit/document.tsx';
import { mapData } from '../kit/map-data.ts';
import { ratingText } from '../kit/ride-words.ts';
import { RatingForm } from './rating-form.tsx';
import type { TrackState } from './track-state.ts';
import { destinationWords, serverZone, shownDriver, shownSteps, stepWords, utcText, wordsFor } from './track-words.ts';

interface LiveMapOptions extends Pick<Config, 'tiles' | 'help'> {
  /** The path to which the form of the rating is sent. */
  ratingPath: string;
}

/** Renders the public live map. All facts are also shown as text beside the map, which works without scripts. */
export function liveMap(state: TrackState, { tiles, help, ratingPath }: LiveMapOptions): string {
  const { headline, when, status } = wordsFor(state, state.now, serverZone);
  return renderDocument({
    title: headline,
    kind: 'track',
    scripts: ['track-page.js'],
    children: (
      <>
        <a class="skip-link" href="#facts">
          Skip the map
        </a>
        <section id="map" aria-label="Map: pickup, destination and car" {...mapData(tiles)} />
        <main id="facts" class="sheet" tabIndex={-1} data-status={state.status} data-state={JSON.stringify(state)}>
          {state.testMode && <p class="test-band">Test data: a simulated driver</p>}
          <div class="answer" id="answer">
            <div>
              <h1 id="headline">{headline}</h1>
              <p id="when" hidden={!when}>
                {when && (
                  <>
                    {when.before} <ClockTime at={when.at} />
                    {when.after}
                  </>
                )}
              </p>
              <p id="status">{status}</p>
              <p class="spoken" role="status" id="spoken" />
              <p class="quiet seen" id="seen" hidden />
              <p class="lost" id="connection" hidden>
                Connection lost. Trying again…
              </p>
            </div>
            {/* A checkbox, because it shows and hides the details without scripts too. */}
            <input type="checkbox" id="show-details" class="sheet-toggle" aria-label="Show details" />
          </div>
          <p class="pin" id="pin" hidden={!state.pin}>
            PIN for the driver <strong id="pin-code">{state.pin}</strong>
          </p>
          <DriverCard driver={shownDriver(state)} />
          <RatingForm path={ratingPath} state={state} />
          <div class="actions">
            <button type="button" class="action share" id="share">
              Share
            </button>
            {help && <HelpLink {...help} />}
          </div>
          <div class="details">
            <Places {...state} />
            <Steps state={state} />
          </div>
          <noscript>
            <p class="quiet note">
              Without scripts, this page does not update automatically. Reload it for the latest state.
            </p>
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
    <time dateTime={new Date(at).toISOString()} title={exact}>
      {exact.slice(11)}
    </time>
  );
}

function HelpLink({ url, phone }: NonNullable<Config['help']>) {
  if (phone) {
    return (
      <a class="action" id="help" href={url}>
        I need help <span class="quiet">{phone}</span>
      </a>
    );
  }
  return (
    <a class="action" id="help" href={url} target="_blank" rel="noopener">
      I need help
    </a>
  );
}

function DriverCard({ driver }: Pick<TrackState, 'driver'>) {
  return (
    <section class="driver" id="driver" aria-label="Driver and car" hidden={!driver}>
      <p class="plate" id="plate">
        {driver?.plate}
      </p>
      <div>
        <p id="vehicle">{driver?.vehicle}</p>
        <p class="quiet">
          <span id="first-name">{driver?.firstName}</span>
          <span class="rating" id="rating">
            {driver && ratingText(driver.rating)}
          </span>
        </p>
      </div>
    </section>
  );
}

function Places({ pickup, destination }: Pick<TrackState, 'pickup' | 'destination'>) {
  return (
    <dl class="places">
      {pickup.address && (
        <div class="from">
          <dt>Pickup</dt>
          <dd>{pickup.address}</dd>
        </div>
      )}
      <div class="to">
        <dt>Destination</dt>
        <dd>{destinationWords({ pickup, destination })}</dd>
      </div>
    </dl>
  );
}

function Steps({ state }: { state: TrackState }) {
  return (
    <ol class="steps" id="steps" aria-label="Steps of the ride">
      {shownSteps(state).map(({ status, at, kind }) => (
        <li key={status} data-step={status} class={kind} aria-current={kind === 'present' ? 'step' : undefined}>
          <span>{stepWords[status]}</span>
          {at !== undefined && <ClockTime at={at} />}
        </li>
      ))}
    </ol>
  );
}
