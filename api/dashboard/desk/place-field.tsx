import type { Desk } from '../../../shared/accounts/desk.ts';
import { type Faults, TextField } from '../../../web/kit/forms.tsx';
import type { BookingValues } from './booking-values.ts';
import { chosenAsSaved, type End } from './trip-places.ts';

interface PlaceFieldProps {
  name: End;
  label: string;
  values: BookingValues;
  faults: Faults;
  autofocus: boolean;
  /** The operator has set an address search. */
  canSearch: boolean;
  /** The id of a text that is read together with the field. */
  about?: string;
}

/**
 * A field for a place: the name of a saved place, coordinates or an address. A script turns it into a combobox
 * (browser/place-field.ts); without scripts, the browser suggests the saved places.
 */
export function PlaceField({ name, label, values, faults, autofocus, canSearch, about }: PlaceFieldProps) {
  return (
    <div class="place-field" data-place-field data-about={about}>
      <TextField
        name={name}
        label={label}
        list="saved-places"
        placeholder={canSearch ? 'Place, address or coordinates' : 'Place or coordinates'}
        value={values[name]}
        faults={faults}
        autofocus={autofocus}
      />
      <input type="hidden" name={`${name}Point`} value={values[`${name}Point`]} />
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
