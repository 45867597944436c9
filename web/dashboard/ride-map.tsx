import type { Config } from '../../shared/base/config.ts';
import { Time } from '../kit/facts.tsx';
import { scriptTexts } from '../kit/languages.ts';
import { mapData } from '../kit/map-data.ts';
import { mapLanguage } from '../track/map-languages.ts';
import type { TrackState } from '../track/track-state.ts';
import { wordsFor } from '../track/track-words.ts';

/** The dashboard is in English. */
const english = mapLanguage('en');

/** The live map inside a page of the dashboard. A script fills it and moves the car (browser/create-ride-map.ts). */
export function RideMap({ tiles }: Pick<Config, 'tiles'>) {
  return (
    <div class="ride-map track" id="map-box" data-keep>
      <section id="ride-map" aria-label="Map: pickup, destination and car" {...mapData(tiles)}>
        <noscript>
          <p class="quiet">The map needs scripts.</p>
        </noscript>
      </section>
    </div>
  );
}

/** The texts of the map: the ETA and the status. The same script keeps them up to date. */
export function MapWords({ map }: { map: TrackState }) {
  const { headline, when, status } = wordsFor(map, map.now, english, 'UTC');
  return (
    <p class="map-words" id="map-words" data-keep data-texts={JSON.stringify(scriptTexts(english))}>
      <strong id="headline">{headline}</strong>{' '}
      <span class="quiet" id="headline-when">
        {when && (
          <>
            {when.before}
            <Time at={new Date(when.at)} form="time" />
            {when.after}.
          </>
        )}
      </span>{' '}
      <span class="quiet" id="headline-more">
        {status}
      </span>
    </p>
  );
}
