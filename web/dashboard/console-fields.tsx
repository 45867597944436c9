import { carTypes, needs } from '../../shared/base/terms.ts';
import { labelledFields } from '../../shared/rides/fields.ts';
import { rideTypes } from '../../shared/rides/ride-types.ts';
import { ChoiceField, type Faults, TextArea, TextField } from '../kit/forms.tsx';
import { PassengerFields } from '../kit/passenger-fields.tsx';
import { firstValues, type RideField } from '../kit/ride-request.ts';

interface FieldsProps {
  values: Record<RideField, string>;
  faults: Faults;
}

/** The fields of a ride that a request must have. */
export function RideFields({ values, faults }: FieldsProps) {
  return (
    <>
      <PlaceFields name="pickup" label="Pickup" values={values} faults={faults} />
      <PlaceFields name="destination" label="Destination" values={values} faults={faults} />
      <TextField name="fare" label="Fare in USD" inputmode="decimal" value={values.fare} faults={faults} />
    </>
  );
}

function PlaceFields({ name, label, values, faults }: FieldsProps & { name: 'pickup' | 'destination'; label: string }) {
  return (
    <fieldset class="place">
      <legend>{label}</legend>
      <TextField name={`${name}Address`} label="Address" value={values[`${name}Address`]} faults={faults} />
      <TextField name={`${name}Lat`} label="Latitude" value={values[`${name}Lat`]} faults={faults} />
      <TextField name={`${name}Lng`} label="Longitude" value={values[`${name}Lng`]} faults={faults} />
      {/* Shown by the script (console.browser.ts). */}
      <button class="btn second" type="button" data-choose={name} hidden>
        Choose on the map
      </button>
    </fieldset>
  );
}

const moreFields = [
  'passengerName',
  'passengerPhone',
  'passengerLocale',
  'texting',
  'contact',
  'pin',
  'reference',
  'notes',
  'carType',
  'rideType',
  'passengerCount',
  'maxPrice',
  'maxEtaMinutes',
  'waitSeconds',
  'pickupTime',
  'onDriverCancel',
  'needs',
  'distanceKm',
  'webhookUrl',
  'metadata',
  ...labelledFields.map(({ name }) => name),
] as const satisfies RideField[];

/** All other fields of a ride, folded until one of them is filled in. */
export function MoreFields({ values, faults }: FieldsProps) {
  const text = (name: (typeof moreFields)[number], label: string, more: { hint?: string; isNumber?: boolean } = {}) => (
    <TextField
      name={name}
      label={label}
      hint={more.hint}
      inputmode={more.isNumber ? 'decimal' : undefined}
      value={values[name]}
      faults={faults}
    />
  );
  const isUsed = moreFields.some((name) => faults[name] || values[name] !== firstValues[name]);
  return (
    <details open={isUsed}>
      <summary>More fields</summary>
      <div class="stack">
        <div class="pairs">
          {text('passengerName', 'Passenger')}
          {text('passengerPhone', 'Phone of the passenger')}
          <PassengerFields values={values} faults={faults} />
          {text('reference', 'Reference')}
          {text('notes', 'Note to the driver')}
          <ChoiceField
            name="carType"
            label="Car type"
            value={values.carType}
            options={carTypes.map((type) => [type, type] as const)}
            faults={faults}
          />
          <ChoiceField
            name="rideType"
            label="Ride type"
            value={values.rideType}
            options={rideTypes.map((type) => [type, type] as const)}
            faults={faults}
          />
          {text('passengerCount', 'Number of passengers', { isNumber: true })}
          {text('distanceKm', 'Distance in km', { isNumber: true })}
          {text('maxPrice', 'Accept automatically up to (USD)', { isNumber: true })}
          {text('maxEtaMinutes', 'and up to (minutes away)', { isNumber: true })}
          {text('waitSeconds', 'and the best within (seconds)', { isNumber: true })}
          <TextField
            name="pickupTime"
            label="Pickup time, for a ride for later (UTC)"
            type="datetime-local"
            value={values.pickupTime}
            faults={faults}
          />
          <ChoiceField
            name="onDriverCancel"
            label="If the driver cancels"
            value={values.onDriverCancel}
            options={[
              ['', 'The ride has ended'],
              ['rebid', 'A new ride replaces it (rebid)'],
            ]}
            faults={faults}
          />
        </div>
        {labelledFields.map(({ name, label }) => text(name, label))}
        {text('needs', 'Needs', { hint: `Any of ${needs.join(', ')}` })}
        {text('webhookUrl', 'Webhook URL of this ride', { hint: 'Instead of the URL of the key.' })}
        <TextArea
          name="metadata"
          label="Metadata"
          hint="One entry per line, such as room=1204"
          value={values.metadata}
          rows={2}
          faults={faults}
        />
      </div>
    </details>
  );
}
