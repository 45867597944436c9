/**
 * The request that the console's form describes. Pure: the browser also runs it, to show the request while the form is
 * filled in.
 */

/** The form's fields that describe a ride. */
export type RideField =
  | 'pickupAddress'
  | 'pickupLat'
  | 'pickupLng'
  | 'destinationAddress'
  | 'destinationLat'
  | 'destinationLng'
  | 'fare';

/** The initial values of the form. */
export const firstValues: Record<RideField, string> = {
  pickupAddress: 'Times Square, New York',
  pickupLat: '40.7580',
  pickupLng: '-73.9855',
  destinationAddress: 'City Hall, New York',
  destinationLat: '40.7128',
  destinationLng: '-74.0060',
  fare: '24.50',
};

/** The body of the creation that a form describes (contract, section 4.1), not validated yet. */
export function requestBody(text: (field: RideField) => string) {
  const place = (name: 'pickup' | 'destination') => ({
    lat: numberIn(text(`${name}Lat`)),
    lng: numberIn(text(`${name}Lng`)),
    ...(text(`${name}Address`).trim() && { address: text(`${name}Address`).trim() }),
  });
  return { pickup: place('pickup'), destination: place('destination'), fare: numberIn(text('fare')) };
}

/** Converts a number. Other text is returned as it is, and the schema refuses it. */
export function numberIn(text: string): number | string | undefined {
  const typed = text.trim();
  if (typed === '') return undefined;
  return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(typed) ? Number(typed) : typed;
}

/** The shell variable for the key: the service does not store keys, so it cannot show one. */
export const keyVariable = 'SVC_TEST_KEY';

/** A creation (contract, section 4.1) as a curl command for a POSIX shell. Pure. */
export function creationAsCurl({ apiUrl, scenario, body }: { apiUrl: string; scenario: string; body: object }): string {
  const parts = [
    `curl ${shellQuoted(`${apiUrl}/rides`)}`,
    `-H "Authorization: Bearer $${keyVariable}"`,
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
