import { ChoiceField, type Faults, TextField } from './forms.tsx';
import { isLanguage, languageNames } from './languages.ts';
import type { RideField } from './ride-request.ts';

type Option = readonly [value: string, words: string];

/** The languages of messages and live maps, and the present one (BCP 47) if it is none of them. */
export function languageOptions(locale = ''): readonly Option[] {
  const offered: Option[] = [['', 'Not set'], ...Object.entries(languageNames)];
  return locale && !isLanguage(locale) ? [...offered, [locale, nameOf(locale)]] : offered;
}

/** Its own name; of a text that is no tag, the text. */
function nameOf(tag: string): string {
  try {
    const name = new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag;
    return name.replace(/^./u, (first) => first.toUpperCase());
  } catch {
    return tag;
  }
}

const textingOptions: readonly Option[] = [
  ['', 'Key’s default'],
  ['yes', 'Text the passenger'],
  ['no', 'No text messages'],
];
const pinOptions: readonly Option[] = [
  ['', 'Not needed'],
  ['yes', 'Needed at the start'],
];

/** The passenger's language, text messages to the passenger and a relative, and the PIN. */
export function PassengerFields({
  values,
  faults,
}: {
  values: Record<Extract<RideField, 'passengerLocale' | 'texting' | 'contact' | 'pin'>, string>;
  faults: Faults;
}) {
  const { passengerLocale, texting, contact, pin } = values;
  return (
    <>
      <ChoiceField
        name="passengerLocale"
        label="Passenger’s language"
        value={passengerLocale}
        options={languageOptions(passengerLocale)}
        faults={faults}
      />
      <ChoiceField name="texting" label="Text messages" value={texting} options={textingOptions} faults={faults} />
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
