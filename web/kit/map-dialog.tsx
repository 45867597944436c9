import type { Config } from '../../shared/base/config.ts';
import { mapData } from './map-data.ts';

/** The map on which a person chooses a point (browser/place-map.ts). Forms offer it only with scripts. */
export function MapDialog({ tiles }: Pick<Config, 'tiles'>) {
  return (
    <dialog class="place-map track flow" aria-labelledby="place-map-title" data-place-map>
      <h2 id="place-map-title">Choose on the map</h2>
      <p class="hint" id="place-map-keys">
        Move the map under the cross. Arrow keys move it too, + and − zoom, Enter uses the point.
      </p>
      <div class="place-map-box">
        <section role="application" aria-label="Map" aria-describedby="place-map-keys" {...mapData(tiles)} />
        <svg class="place-map-cross" viewBox="0 0 40 40" aria-hidden="true">
          <path d="M20 2v36M2 20h36" />
        </svg>
      </div>
      <div class="row">
        <output class="mono" aria-live="polite" />
        <button class="btn second" type="button" data-cancel>
          Cancel
        </button>
        <button class="btn" type="button" data-use>
          Use this point
        </button>
      </div>
    </dialog>
  );
}
