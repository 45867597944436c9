import type { Location } from './ride-types.ts';

/** The partner's address text, or else the coordinates. */
export const placeText = (place: Location): string => place.address || coordinatesText(place);

/** The coordinates, rounded to about a metre. Those of an erased ride keep their two decimals. */
export const coordinatesText = ({ lat, lng }: Location): string =>
  [lat, lng].map((degrees) => String(Number(degrees.toFixed(5)))).join(', ');
