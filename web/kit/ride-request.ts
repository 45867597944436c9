import { type GivenFields, type LabelledName, labelledFields } from '../../shared/rides/fields.ts';

/**
 * The request that the console's form describes. Pure: the browser also runs it, to show the request while the form is
 * filled in.
 */

/** The texts of the fields that have only a label (shared/rides/fields.ts), in a form and in a ride. */
export const labelledTexts = (ride: GivenFields = {}) =>
  Object.fromEntries(labelledFields.map(({ name }) => [name, String(ride[name] ?? '')])) as Record<
    LabelledName,
    string
  >;

/** Their values in the body of a creation, not validated yet. */
export const labelledValues = (text: (name: LabelledName) => string): object =>
  Object.fromEntries(
    labelledFields.map(({ name, isNumber }) => [
      name,
      isNumber ? numberIn(text(name)) : text(name).trim() || undefined,
    ]),
  );

/** How a fault names them. */
export const labelledFaults = Object.fromEntries(
  labelledFields.map(({ name, label }) => [name, [name, `The ${label.toLowerCase()}`] as const]),
);

/** The initial values of the form. */
export const firstValues = {
  ...labelledTexts(),
  pickupAddress: 'Järntorget, Gothenburg',
  pickupLat: '57.6997',
  pickupLng: '11.9523',
  destinationAddress: 'Lindholmen, Gothenburg',
  destinationLat: '57.7074',
  destinationLng: '11.9385',
  fare: '24.50',
  carType: 'regular',
  rideType: 'standard',
  passengerCount: '1',
  passengerName: '',
  passengerPhone: '',
  passengerLocale: '',
  /** Whether the passenger gets text messages: `yes`, `no`, or empty for the key's default. */
  texting: '',
  /** The phone number of a relative, who is texted. */
  contact: '',
  /** `yes` if the trip starts only with the passenger's PIN. */
  pin: '',
  reference: '',
  notes: '',
  maxPrice: '',
  maxEtaMinutes: '',
  waitSeconds: '',
  pickupTime: '',
  onDriverCancel: '',
  needs: '',
  distanceKm: '',
  webhookUrl: '',
  metadata: '',
};

/** The form's fields that describe a ride. */
export type RideField = keyof typeof firstValues;

/** The body of the creation that a form describes (contract, section 4.1), not validated yet. */
export function requestBody(text: (field: RideField) => string) {
  const typed = (field: RideField) => text(field).trim() || undefined;
  /** Undefined for the default. */
  const chosen = (field: RideField) => (typed(field) === firstValues[field] ? undefined : typed(field));
  const number = (field: RideField) => numberIn(text(field));
  const place = (name: 'pickup' | 'destination') => ({
    lat: number(`${name}Lat`),
    lng: number(`${name}Lng`),
    address: typed(`${name}Address`),
  });
  return {
    pickup: place('pickup'),
    destination: place('destination'),
    fare: number('fare'),
    carType: chosen('carType'),
    rideType: chosen('rideType'),
    passengerCount: chosen('passengerCount') && number('passengerCount'),
    passenger: orNone({
      name: typed('passengerName'),
      phone: typed('passengerPhone'),
      locale: typed('passengerLocale'),
    }),
    notify: orNone({
      passenger: typed('texting') ? typed('texting') === 'yes' : undefined,
      contacts: typed('contact') ? [{ phone: typed('contact') }] : undefined,
    }),
    pin: typed('pin') ? true : undefined,
    reference: typed('reference'),
    notes: typed('notes'),
    autoAccept: orNone({
      maxPrice: number('maxPrice'),
      maxEtaMinutes: number('maxEtaMinutes'),
      waitSeconds: number('waitSeconds'),
    }),
    pickupAt: timeIn(text('pickupTime')),
    onDriverCancel: typed('onDriverCancel'),
    needs: orNone(
      text('needs')
        .split(/[\s,]+/)
        .filter(Boolean),
    ),
    distanceKm: number('distanceKm'),
    webhookUrl: typed('webhookUrl'),
    metadata: orNone(metadataIn(text('metadata'))),
    ...labelledValues(text),
  };
}

/** Undefined if every field is. */
const orNone = <T extends object>(fields: T): T | undefined =>
  Object.values(fields).some((value) => value !== undefined) ? fields : undefined;

/** A time in UTC, such as `2026-11-24T21:30`, in Unix ms. Other text is returned as it is, and the schema refuses it. */
function timeIn(text: string): number | string | undefined {
  const typed = text.trim();
  return typed ? Date.parse(`${typed}Z`) || typed : undefined;
}

/** One entry per line: `room=1204`. */
function metadataIn(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim());
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...value] = line.split('=');
      return [name.trim(), value.join('=').trim()];
    }),
  );
}

/** Converts a number. Other text is returned as it is, and the schema refuses it. */
export function numberIn(text: string): number | string | undefined {
  const typed = text.trim();
  if (typed === '') return undefined;
  return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(typed) ? Number(typed) : typed;
}

/** The shell variable for the key: the service does not store keys, so only the page of a new key can show one. */
export const keyVariable = 'SVC_TEST_KEY';

/** A creation (contract, section 4.1) as a curl command for a POSIX shell. Pure. */
export function creationAsCurl({
  apiUrl,
  scenario,
  body,
  key = `$${keyVariable}`,
}: {
  apiUrl: string;
  scenario: string;
  body: object;
  key?: string;
}): string {
  const parts = [
    `curl ${shellQuoted(`${apiUrl}/rides`)}`,
    `-H "Authorization: Bearer ${key}"`,
    `-H 'Content-Type: application/json'`,
    ...(scenario === 'default' ? [] : [`-H ${shellQuoted(`X-Service-Test-Scenario: ${scenario}`)}`]),
    `-d ${shellQuoted(indented(JSON.stringify(body, null, 2)))}`,
  ];
  return parts.join(' \\\n  ');
}

/** Indents JSON below its curl option; whitespace in JSON has no meaning. */
const indented = (json: string): string => json.replaceAll('\n', '\n  ');

/** Quotes a text as one word for a POSIX shell. Inside single quotes, only the quote itself has a meaning. */
function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
