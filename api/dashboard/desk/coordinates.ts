import type { Point } from '../../../shared/base/great-circle.ts';

/** Coordinates as people copy them from map apps. Pure: the browser also runs it. */

const number = String.raw`[+-]?\d{1,3}(?:\.\d+)?`;
const pair = String.raw`(${number})\s*[,;/\s]\s*(${number})`;

/** The pin of a link comes before the centre of its map. */
const inLinks = [
  /!3d([+-]?[\d.]+)!4d([+-]?[\d.]+)/,
  /[?&]mlat=([+-]?[\d.]+)&mlon=([+-]?[\d.]+)/,
  new RegExp(`[?&#](?:q|ll|query|daddr|destination|center|coordinate)=(?:loc:)?${pair}`),
  new RegExp(`@${pair}`),
  new RegExp(`#map=[\\d.]+/${pair}`),
  new RegExp(`/${pair}(?=[/?#]|$)`),
];

/** `40.758° N`, `40°45.48'N`, `40° 45' 28.8" N`. */
const side = /(\d{1,3}(?:\.\d+)?)\s*°?\s*(?:([\d.]+)\s*['′’]\s*)?(?:([\d.]+)\s*(?:"|″|”|''|′′)\s*)?([NSEW])/gi;

/**
 * The point in a text that consists only of coordinates, latitude first, or in a link of a map app. Null for other
 * text. The values may be out of range.
 */
export function coordinatesIn(typed: string): Point | null {
  const text = typed.trim();
  if (/^https?:\/\//i.test(text)) return pointInLink(text);
  const [, geo] = /^geo:([^;?]+)/i.exec(text) ?? [];
  const bare = (geo ?? text)
    .replace(/^[([{]\s*|\s*[)\]}]$/g, '')
    .replace(/\b(lat|latitude|lng|lon|longitude)\b\s*[:=]?/gi, ' ')
    .trim();
  // A comma can separate decimals, as in `40,758; -73,9855`.
  const plain = /^[+-]?\d{1,3},\d+\s*[;\s]\s*[+-]?\d{1,3},\d+$/.test(bare) ? bare.replaceAll(',', '.') : bare;
  return toPoint(new RegExp(`^${pair}°?$`).exec(plain.replaceAll('°,', ','))) ?? pointOfSides(bare);
}

function pointInLink(link: string): Point | null {
  const decoded = link.replaceAll(/%2c/gi, ',').replaceAll(/%20|\+(?=[-\d])/g, ' ');
  for (const pattern of inLinks) {
    const found = toPoint(pattern.exec(decoded));
    if (found) return found;
  }
  return null;
}

function toPoint(found: RegExpExecArray | null): Point | null {
  if (!found) return null;
  const [, lat, lng] = found;
  const point = { lat: Number(lat), lng: Number(lng) };
  return Number.isFinite(point.lat) && Number.isFinite(point.lng) ? point : null;
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
