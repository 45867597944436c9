import type { Place } from '../../shared/accounts/account.ts';
import { placeNamed } from '../../shared/accounts/place-name.ts';
import { greatCircleKm, type Point } from '../../shared/base/great-circle.ts';
import type { Location } from '../../shared/rides/ride-types.ts';
import { coordinatesAsText } from '../kit/ride-words.ts';
import { coordinatesIn, pointOfLink } from './coordinates.ts';

/** The places of a booking: what a person types, and the doubts about it that are asked once. Pure. */

/** A place of a booking. `isTyped` if it was given only as coordinates, which people mistype. */
export interface TripPlace extends Location {
  isTyped?: true;
  /** It is only the centre of the map in a link. */
  isCentre?: true;
}

/**
 * The place that a field names: the chosen saved place, address or point whose text it still shows, coordinates, or a
 * saved place's name. Null for any other text.
 */
export function placeIn(typed: string, chosen: string, places: readonly Place[]): TripPlace | null {
  const text = typed.trim();
  const [, lat, lng, label] = /^(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?) (.*)$/s.exec(chosen) ?? [];
  if (label !== undefined && label === text) {
    return { lat: Number(lat), lng: Number(lng), ...(!coordinatesIn(text) && { address: text }) };
  }
  const point = coordinatesIn(text);
  if (point) return { ...point, isTyped: true, ...(pointOfLink(text)?.isCentre && { isCentre: true }) };
  // By its id, because in the meantime the place may have got another name, and another place its name.
  const [, id, name] = /^(place_\w+) (.*)$/s.exec(chosen) ?? [];
  const saved = name === text ? places.find((place) => place.id === id) : placeNamed(places, text);
  return saved ? locationOf(saved) : null;
}

/** A saved place as the driver sees it. */
export function locationOf({ name, address, lat, lng }: Place): Location {
  return { lat, lng, address: address ? `${name}, ${address}` : name };
}

/** The hidden field for a place that a person has chosen: it counts as long as the field shows `text`. */
export const chosenAs = ({ lat, lng }: Point, text: string): string => `${lat},${lng} ${text}`;

/** The hidden field for a saved place that a person has chosen. */
export const chosenAsSaved = ({ id, name }: Pick<Place, 'id' | 'name'>): string => `${id} ${name}`;

export type End = 'from' | 'to';
export const endLabels = { from: 'From', to: 'To' } as const;

/** Something about a ride that is probably a mistake. It is asked once: sent again with its `token`, the ride is booked. */
export interface Doubt {
  field: End | 'fare';
  words: string;
  token: string;
  /** The text that replaces the field's text. */
  corrected?: string;
}

const farKm = 300;

/** The doubts about a trip, without those whose token is in `asked`. */
export function doubtsAbout(
  trip: Record<End, TripPlace>,
  places: readonly Place[],
  asked: readonly string[],
): { doubts: Doubt[]; trip: Record<End, TripPlace> } {
  const doubts: Doubt[] = [];
  const corrected = { ...trip };
  for (const field of ['from', 'to'] as const) {
    const place = trip[field];
    const other = trip[field === 'from' ? 'to' : 'from'];
    const token = coordinatesAsText(place);
    if (asked.includes(token) || !place.isTyped || !looksSwapped(place, other.isTyped ? places : [...places, other]))
      continue;
    corrected[field] = { ...place, lat: place.lng, lng: place.lat };
    const text = coordinatesAsText(corrected[field]);
    const words = `The latitude and longitude of “${endLabels[field]}” look swapped, so it is ${text} now. Book the ride if that is right, or change it back.`;
    doubts.push({ field, words, token, corrected: text });
  }
  for (const field of ['from', 'to'] as const) {
    const token = `centre ${coordinatesAsText(trip[field])}`;
    if (!trip[field].isCentre || asked.includes(token)) continue;
    const words = `The link of “${endLabels[field]}” names no place, only the centre of its map, ${coordinatesAsText(trip[field])}. Book the ride if that is right, or enter the place.`;
    doubts.push({ field, words, token });
  }
  const km = greatCircleKm(corrected.from, corrected.to);
  const token = `${coordinatesAsText(corrected.from)}~${coordinatesAsText(corrected.to)}`;
  if (km > farKm && !asked.includes(token)) {
    const words = `This ride is ${Math.round(km).toLocaleString('en-US')} km long. Book it if that is right, or change a place.`;
    doubts.push({ field: 'to', words, token });
  }
  return { doubts, trip: corrected };
}

/** True for a point that is not on earth, or far from all known places, but not with latitude and longitude swapped. */
function looksSwapped({ lat, lng }: Point, known: readonly Point[]): boolean {
  if (Math.abs(lng) > 90) return false;
  if (Math.abs(lat) > 90) return true;
  const nearest = (point: Point) => Math.min(...known.map((place) => greatCircleKm(place, point)));
  const km = nearest({ lat, lng });
  return km > farKm && nearest({ lat: lng, lng: lat }) < km / 5;
}
