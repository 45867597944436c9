import type { Desk } from '../../shared/accounts/desk.ts';
import { TextField } from '../kit/forms.tsx';
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
