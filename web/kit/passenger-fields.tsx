import { languages } from '../../shared/messages/texts.ts';
import { ChoiceField, type Faults, TextField } from './forms.tsx';
import type { RideField } from './ride-request.ts';

type Option = readonly [value: string, words: string];

/** The languages of messages and live maps, each by its own name, and the given one (BCP 47). */
export function languageOptions(locale = ''): readonly Option[] {
  const offered = ['', ...Object.keys(languages)];
  const all = offered.includes(locale) ? offered : [...offered, locale];
  return all.map((tag) => [tag, tag && nameOf(tag)] as const).map(([tag, name]) => [tag, name || 'Not named']);
}

const nameOf = (tag: string): string =>
  (new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag).replace(/^./u, (first) => first.toUpperCase());

const textOptions: readonly Option[] = [
  ['', 'Key’s default'],
  ['yes', 'Text the passenger'],
  ['no', 'No text messages'],
];
const pinOptions: readonly Option[] = [
  ['', 'Not needed'],
  ['yes', 'Needed at the start'],
];

/** How the passenger and a relative are told of the ride, and how the driver recognizes the passenger. */
export function PassengerFields({
  values,
  faults,
}: {
  values: Record<Extract<RideField, 'passengerLocale' | 'texts' | 'contact' | 'pin'>, string>;
  faults: Faults;
}) {
  const { passengerLocale, texts, contact, pin } = values;
  return (
    <>
      <ChoiceField
        name="passengerLocale"
        label="Passenger’s language"
        value={passengerLocale}
        options={languageOptions(passengerLocale)}
        faults={faults}
      />
      <ChoiceField name="texts" label="Text messages" value={texts} options={textOptions} faults={faults} />
      <TextField
        name="contact"
        label="Text a relative"
        type="tel"
        placeholder="Phone"
        value={contact}
        faults={faults}
      />
      <ChoiceField name="pin" label="PIN" value={pin} options={pinOptions} faults={faults} />
    </>
  );
}
