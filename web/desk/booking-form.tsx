import type { VNode } from 'preact';
import type { Config } from '../../shared/base/config.ts';
import { carTypes, type Need, needs, needWords } from '../../shared/base/terms.ts';
import { labelledFields } from '../../shared/rides/fields.ts';
import { rideTypes } from '../../shared/rides/ride-types.ts';
import { ChoiceField, FaultLinks, type Faults, FormId, TextField } from '../kit/forms.tsx';
import { MapDialog } from '../kit/map-dialog.tsx';
import { PassengerFields } from '../kit/passenger-fields.tsx';
import { deskPath } from '../kit/paths.ts';
import type { BookingState, OpenDesk } from './booking.ts';
import { type BookingValues, emptyValues, inFormOrder, needField } from './booking-values.ts';
import { hasGeocoder } from './geocoder.ts';
import { PickupClocks } from './pickup-clocks.tsx';
import { PlaceField, placeSearch, SavedPlaces } from './place-field.tsx';
import type { Doubt } from './trip-places.ts';

interface FormProps extends BookingState {
  config: Pick<Config, 'tiles' | 'secrets'>;
  desk: OpenDesk['desk'];
  /** The key with which the page says that it books. */
  keyId?: string;
  /** The clock time that the pickup keeps in the reader's zone. */
  clockOf?: Date;
  /** The id of a text about the last booking, which is read together with the first field. */
  about?: string;
}

/** The form that books a ride. Its fields are in the order in which a person asks for them. */
export function BookingForm(props: FormProps) {
  const { config, desk, keyId, values, doubts = [], refusal, hint, formId, about } = props;
  const faults = faultsAndDoubts(props.faults, doubts);
  const first = Object.keys(faults)[0] ?? 'from';
  const shown = { values, faults, first };
  const canSearch = hasGeocoder(config);
  const placeOf = (name: 'from' | 'to') => ({
    ...{ name, faults, list: 'saved-places', value: values[name], point: values[`${name}Point`] },
    placeholder: canSearch ? 'Place, address or coordinates' : 'Place or coordinates',
    autofocus: first === name,
  });
  return (
    <form
      id="book"
      method="post"
      action={deskPath()}
      class="booking"
      aria-label="New ride"
      data-once
      {...placeSearch(config)}
      noValidate
    >
      <FormId id={formId} />
      <input type="hidden" name="key" value={keyId} />
      <input type="hidden" name="asked" value={values.asked} />
      <input type="hidden" name="zone" value={values.zone} />
      <Problems faults={faults} refusal={refusal} isDoubt={Object.keys(props.faults ?? {}).length === 0} />
      <SavedPlaces desk={desk} />
      <PlaceField label="From" {...placeOf('from')} about={about} />
      <PlaceField label="To" {...placeOf('to')} />
      <TimeFields {...shown} clockOf={props.clockOf} />
      <p class="hint pickup-clocks" id="pickup-clocks" role="status">
        <PickupClocks values={values} places={desk.places} />
      </p>
      <div class="pairs">
        <TextField name="passenger" label="Passenger" {...textOf('passenger', shown)} />
        <TextField name="phone" label="Phone" type="tel" {...textOf('phone', shown)} />
      </div>
      <TextField name="notes" label="Notes" {...textOf('notes', shown)} />
      <div class="pairs">
        <ChoiceField name="car" label="Car" value={values.car} options={namesOf(carTypes)} faults={faults} />
        <ChoiceField name="passengers" label="Seats" value={values.passengers} options={seats} faults={faults} />
      </div>
      <div class="pairs booking-folds">
        <Needs {...shown} />
        <More {...shown} />
      </div>
      <TextField name="reference" label="Reference" placeholder="Room 1204" {...textOf('reference', shown)} />
      <div class="pairs booking-fare">
        <TextField
          name="fare"
          label="Fare"
          inputmode="decimal"
          placeholder="USD"
          about="usual-fare"
          {...textOf('fare', shown)}
        />
        <p class="hint row fare-words" id="fare-words">
          <span id="usual-fare">{hint?.words ?? 'The usual fare appears here when both places are known.'}</span>{' '}
          <button class="copy" type="button" data-use-fare hidden />
        </p>
      </div>
      <div class="start-bar">
        <button class="btn" type="submit">
          Book ride
        </button>
      </div>
      <MapDialog {...config} />
    </form>
  );
}

/** The text at each field, in the order of the fields. */
function faultsAndDoubts(faults: Faults = {}, doubts: readonly Doubt[]): Faults {
  const texts = { ...faults };
  for (const { field, words } of doubts) {
    const before = texts[field]?.replace(/\.$/, '');
    texts[field] = before ? `${before}. ${words}` : words;
  }
  return inFormOrder(texts);
}

interface Shown {
  values: BookingValues;
  faults: Faults;
  /** The first wrong field, which gets the focus. */
  first: string;
}

const textOf = (name: keyof BookingValues, { values, faults, first }: Shown) => ({
  value: values[name],
  faults,
  autofocus: first === name,
});

const namesOf = (all: readonly string[]) => all.map((name) => [name, capitalized(name)] as const);
const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
export const seats = ['1', '2', '3', '4', '5', '6', '7'].map((count) => [count, count] as const);

/** Says that the ride is not booked, and why. The focus is in the first wrong field, which is described by its fault. */
function Problems({ faults, refusal, isDoubt }: { faults: Faults; refusal?: string; isDoubt: boolean }) {
  if (refusal === undefined && Object.keys(faults).length === 0) return null;
  return (
    <div class="fault-summary" role="alert">
      <h2>{isDoubt ? 'Please check this' : 'Not booked yet'}</h2>
      {refusal && <p>{refusal}</p>}
      <FaultLinks faults={faults} />
    </div>
  );
}

/** Now or later. A script shows the pickup time only for later, in the reader's zone; without scripts it is in UTC. */
function TimeFields({ values, faults, first, clockOf }: Shown & { clockOf?: Date }) {
  return (
    <div class="pairs booking-time">
      <ChoiceField
        name="when"
        label="When"
        value={values.when}
        options={[
          ['now', 'Now'],
          ['later', 'Later'],
        ]}
        faults={faults}
      />
      <div data-later data-clock={clockOf?.toISOString()}>
        <TextField
          name="pickupTime"
          label={`Pickup time (${values.zone || 'UTC'})`}
          type="datetime-local"
          value={values.pickupTime}
          about="pickup-clocks"
          faults={faults}
          autofocus={first === 'pickupTime'}
        />
      </div>
    </div>
  );
}

function Needs({ values }: Shown) {
  const chosen = needs.filter((need) => values.needs.split(' ').includes(need));
  return (
    <details class="booking-more" open={chosen.length > 0}>
      <summary>Needs</summary>
      <NeedsField legend={<legend class="spoken">Needs</legend>} isChosen={(need) => chosen.includes(need)} />
    </details>
  );
}

/** The needs of a ride as checkboxes. */
export const NeedsField = ({ legend, isChosen }: { legend: VNode; isChosen(need: Need): boolean }) => (
  <fieldset>
    {legend}
    {needs.map((need) => (
      <label key={need}>
        <input type="checkbox" name={needField(need)} value="yes" checked={isChosen(need)} />
        {capitalized(needWords[need])}
      </label>
    ))}
  </fieldset>
);

/** What a desk seldom changes. */
function More(shown: Shown) {
  const { values, faults } = shown;
  const names = [
    'passengerLocale',
    'texting',
    'contact',
    'pin',
    'rideType',
    'rebid',
    ...labelledFields.map(({ name }) => name),
  ] as const;
  const isOpen = names.some((name) => faults[name] !== undefined || values[name] !== emptyValues[name]);
  return (
    <details class="booking-more" open={isOpen}>
      <summary>More</summary>
      <div class="pairs">
        <PassengerFields values={values} faults={faults} />
        <ChoiceField
          name="rideType"
          label="Trip"
          value={values.rideType}
          options={rideTypes.map((type) => [type, type === 'standard' ? 'In the city' : 'Between cities'] as const)}
          faults={faults}
        />
      </div>
      <fieldset>
        <legend class="spoken">If the driver cancels</legend>
        <label>
          <input type="checkbox" name="rebid" value="rebid" checked={values.rebid === 'rebid'} />
          Find another driver if the driver cancels
        </label>
      </fieldset>
      {labelledFields.map(({ name, label }) => (
        <TextField key={name} name={name} label={label} {...textOf(name, shown)} />
      ))}
    </details>
  );
}
