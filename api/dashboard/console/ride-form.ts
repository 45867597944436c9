/** The fields of the console's form that describe a ride. Pure: the browser shows the request as it is typed. */
export type RideField =
  | 'pickupAddress'
  | 'pickupLat'
  | 'pickupLng'
  | 'destinationAddress'
  | 'destinationLat'
  | 'destinationLng'
  | 'fare';

/** What the form begins with. */
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

/** A text that is not a number stays a text, and the schema refuses it. */
export function numberIn(text: string): number | string | undefined {
  const typed = text.trim();
  if (typed === '') return undefined;
  return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(typed) ? Number(typed) : typed;
}
