import { renderDocument } from '../pages/document.tsx';
import type { TrackState } from './track-state.ts';
import { ratingText, serverZone, shownSteps, stepWords, wordsFor } from './words.ts';

interface Tiles {
  /** A URL with {z}, {x} and {y}. */
  url: string;
  attribution: string;
}

/** Renders the public live map. All facts are also shown as text beside the map, which works without scripts. */
export function trackPage(state: TrackState, tiles?: Tiles): string {
  const { headline, status } = wordsFor(state, state.now, serverZone);
  return renderDocument({
    title: headline,
    kind: 'track',
    scripts: ['track-page.js'],
    children: (
      <>
        <a class="skip-link" href="#facts">
          Skip the map
        </a>
        <section
          id="map"
          aria-label="Map: pickup, destination and car"
          data-tiles={tiles?.url}
          data-attribution={tiles?.attribution}
        />
        <main id="facts" class="sheet" tabIndex={-1} data-state={JSON.stringify(state)}>
          {state.testMode && <p class="test-band">Test data: a simulated driver</p>}
          <div class="answer">
            <h1 id="headline">{headline}</h1>
            <p id="status">{status}</p>
            <p class="spoken" role="status" id="spoken" />
            <p class="quiet seen" id="seen" hidden />
          </div>
          <DriverCard driver={state.driver} />
          <Steps state={state} />
          <noscript>
            <p class="quiet note">
              Without scripts, this page does not update automatically. Reload it for the latest state.
            </p>
          </noscript>
          <p class="quiet note" id="connection" hidden>
            Connection lost. Trying again…
          </p>
        </main>
      </>
    ),
  });
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

function Steps({ state }: { state: TrackState }) {
  return (
    <ol class="steps" id="steps" aria-label="Steps of the ride">
      {shownSteps(state).map(({ status, at, kind }) => (
        <li key={status} data-step={status} class={kind} aria-current={kind === 'present' ? 'step' : undefined}>
          <span>{stepWords[status]}</span>
          {at !== undefined && (
            <time dateTime={new Date(at).toISOString()}>{`${new Date(at).toISOString().slice(11, 16)} UTC`}</time>
          )}
        </li>
      ))}
    </ol>
  );
}
