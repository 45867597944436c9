import type { Point } from '../../shared/base/great-circle.ts';
import { pointOfLink } from './map-links.ts';

/** Coordinates as people copy them from map apps. Pure: the browser also runs it. */

const number = String.raw`[+-]?\d{1,3}(?:\.\d+)?`;
/** Two whole numbers with only a blank between them are something else, such as a number of a house. */
const pair = String.raw`(${number})(?:\s*[,;]\s*|\s+(?=\S*\.)|(?<=\.\d+)\s+)(${number})`;

/** `40.758° N`, `40°45.48'N`, `40° 45' 28.8" N`. */
const side = /(\d{1,3}(?:\.\d+)?)\s*°?\s*(?:([\d.]+)\s*['′’]\s*)?(?:([\d.]+)\s*(?:"|″|”|''|′′)\s*)?([NSEW])/gi;

/**
 * The point in a text that consists only of coordinates, latitude first, or in a link of a map app. Null for other
 * text, and for 0, 0, which apps write for an unknown place. The values may be out of range.
 */
export function coordinatesIn(typed: string): Point | null {
  const text = typed.trim();
  const linked = pointOfLink(text);
  if (linked !== undefined) return linked && { lat: linked.lat, lng: linked.lng };
  const bare = text
    .replace(/^[([{]\s*|\s*[)\]}]$/g, '')
    .replace(/\b(lat|latitude|lng|lon|longitude)\b\s*[:=]?/gi, ' ')
    .trim();
  // A comma can separate decimals, as in `40,758; -73,9855`.
  const plain = /^[+-]?\d{1,3},\d+\s*[;\s]\s*[+-]?\d{1,3},\d+$/.test(bare) ? bare.replaceAll(',', '.') : bare;
  return toPoint(new RegExp(`^${pair}°?$`).exec(plain.replaceAll('°,', ','))) ?? pointOfSides(bare);
}

function toPoint(found: RegExpExecArray | null): Point | null {
  if (!found) return null;
  const [, lat, lng] = found;
  const point = { lat: Number(lat), lng: Number(lng) };
  return point.lat === 0 && point.lng === 0 ? null : point;
}

/** Degrees with the letters of their sides, in any order. */
function pointOfSides(text: string): Point | null {
  const found = [...text.matchAll(side)];
  if (found.length !== 2 || text.replace(side, '').replaceAll(/[\s,;]/g, '') !== '') return null;
  const values = new Map(
    found.map(([, degrees, minutes = '0', seconds = '0', letter = '']) => {
      const size = Number(degrees) + Number(minutes) / 60 + Number(seconds) / 3_600;
      const isNegative = /[SW]/i.test(letter);
      return [/[NS]/i.test(letter) ? 'lat' : 'lng', Number((isNegative ? -size : size).toFixed(6))] as const;
    }),
  );
  const [lat, lng] = [values.get('lat'), values.get('lng')];
  return lat === undefined || lng === undefined || Number.isNaN(lat + lng) ? null : { lat, lng };
}

/** The point as a text that `coordinatesIn` reads: `40.758, -73.9855`, to about a metre. */
export const coordinatesAsText = ({ lat, lng }: Point): string =>
  [lat, lng].map((degrees) => String(Number(degrees.toFixed(5)))).join(', ');

export const isOnEarth = ({ lat, lng }: Point): boolean => Math.abs(lat) <= 90 && Math.abs(lng) <= 180;
