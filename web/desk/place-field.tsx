import type { Desk } from '../../shared/accounts/desk.ts';
import type { Config } from '../../shared/base/config.ts';
import { TextField } from '../kit/forms.tsx';
import { mapData } from '../kit/map-data.ts';
import { chosenAsSaved } from './trip-places.ts';

/**
 * A field for a place: the name of a saved place, coordinates or an address. A script turns it into a combobox
 * (browser/place-combobox.ts); without scripts, the browser suggests the saved places. `point` is the hidden value of a
 * place that a person has chosen. `about` is the id of a text that is read together with the field.
 */
export function PlaceField({
  point,
  about,
  ...field
}: Omit<Parameters<typeof TextField>[0], 'about'> & { point: string; about?: string }) {
  return (
    <div class="place-field" data-place-field data-about={about}>
      <TextField {...field} />
      <input type="hidden" name={`${field.name}Point`} value={point} />
    </div>
  );
}

/** The account's saved places, the default pickup first. */
export function SavedPlaces({ desk: { places, defaultPlace } }: { desk: Desk }) {
  const ordered = [...places].sort((a, b) => Number(b === defaultPlace) - Number(a === defaultPlace));
  return (
    <datalist id="saved-places">
      {ordered.map(({ id, name, address, lat, lng }) => (
        <option
          key={id}
          value={name}
          label={address}
          data-point={`${lat},${lng}`}
          data-chosen={chosenAsSaved({ id, name })}
        />
      ))}
    </datalist>
  );
}

/** The map on which a person chooses a point (browser/place-map.ts). Fields offer it only with scripts. */
export function MapDialog({ config: { tiles } }: { config: Pick<Config, 'tiles'> }) {
  return (
    <dialog class="place-map track" aria-labelledby="place-map-title" data-place-map>
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
      <div class="place-map-foot">
        <output aria-live="polite" />
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
