import type { Desk } from '../../shared/accounts/desk.ts';
import type { Config } from '../../shared/base/config.ts';
import { type Field, fault } from '../kit/declared-fields.tsx';
import { TextField } from '../kit/forms.tsx';
import { isOnEarth, linkFault } from './coordinates.ts';
import { hasGeocoder } from './geocoder.ts';
import { chosenAsSaved, placeIn, type TripPlace } from './trip-places.ts';

/** The attributes of an element around place fields, for the script of their lists. */
export const placeSearch = (config: Pick<Config, 'secrets'>) => ({
  'data-booking': true,
  'data-search': hasGeocoder(config) ? '' : undefined,
});

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
      <div class="options" hidden>
        <ul id={`${field.name}-options`} aria-label="Places" />
        <p class="hint" />
      </div>
      <p class="place-mark" id={`${field.name}-mark`} />
      <p class="spoken" role="status" />
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

/** A place by its coordinates or a link of a map, or chosen on the map or from the list. The field's name is `at`. */
export const position = (label: string): Field<TripPlace> => ({
  parse(typed, _service, other) {
    const point = placeIn(typed.trim(), other('atPoint'), []);
    if (point && !point.isCentre && isOnEarth(point)) return point;
    return fault(
      (point?.isCentre
        ? 'This link names no place, only the centre of its map: enter the coordinates of the place'
        : linkFault(typed.trim())) ??
        'Enter coordinates, latitude first, such as 40.758, -73.9855, or choose a point or an address from the list',
    );
  },
  draw: ({ typed, initial, other, ...at }) => (
    <PlaceField
      {...at}
      label={label}
      placeholder="40.758, -73.9855"
      value={typed ?? initial}
      point={other('atPoint')}
    />
  ),
});
