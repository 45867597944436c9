import type { Point } from '../../shared/base/great-circle.ts';

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

export const isOnEarth = ({ lat, lng }: Point): boolean => Math.abs(lat) <= 90 && Math.abs(lng) <= 180;

/* Links of map apps, as people paste them at the desk. */

export interface LinkedPoint extends Point {
  /** The link names no place, only the centre of a map that somebody looked at. */
  isCentre?: true;
}

type Order = 'lat first' | 'lng first';

/** A form in which an app writes a point: the last match in the decoded link counts, because the last is the newest. */
interface Form {
  pattern: RegExp;
  order?: Order;
  /** A destination that is written as a name is not replaced by another point of the link. */
  decides?: RegExp;
  isCentre?: true;
}

const pairWith = (separator: string): string => `(${number})${separator}(${number})`;
const comma = String.raw`\s*,\s*`;
/** A field of the query or the fragment. */
const field = (names: string, before = ''): RegExp => new RegExp(`[?&#](?:${names})=${before}${pairWith(comma)}`, 'g');
const named = (names: string): RegExp => new RegExp(`[?&#](?:${names})=[^&#]`);

const google: Form[] = [
  { pattern: field('daddr|destination'), decides: named('daddr|destination') },
  // The destination is the last place of the path, and is followed by the camera or the data.
  { pattern: new RegExp(`/dir/[^@?]*/${pairWith(comma)}/?(?=/(?:@|data=|am=)|[?#]|$)`, 'g') },
  { pattern: new RegExp(`!2m2!1d(${number})!2d(${number})`, 'g'), order: 'lng first', decides: /\/dir\// },
  { pattern: new RegExp(`!3d(${number})!4d(${number})`, 'g') },
  { pattern: field('q|query', '(?:loc:)?') },
  { pattern: new RegExp(`/(?:place|search)/${pairWith(comma)}(?=[/?#]|$)`, 'g') },
  { pattern: field('ll') },
  { pattern: new RegExp(`@${pairWith(',')}`, 'g'), isCentre: true },
  { pattern: field('center|sll'), isCentre: true },
];

/** The forms of each app, with a destination before a pin, and a pin before the centre of the map. */
const apps: { host: RegExp; path?: RegExp; forms: Form[] }[] = [
  { host: /^(?:www\.)?google\.[a-z.]+$/, path: /^\/maps/, forms: google },
  { host: /^maps\.google\.[a-z.]+$/, forms: google },
  {
    host: /^maps\.apple\.com$/,
    forms: [
      { pattern: field('daddr|destination'), decides: named('daddr|destination') },
      { pattern: field('coordinate|ll|q|address') },
      { pattern: field('center|sll|near'), isCentre: true },
    ],
  },
  {
    host: /(?:^|\.)yandex\.[a-z.]+$/,
    forms: [
      { pattern: new RegExp(`[?&]rtext=[^&]*~${pairWith(comma)}(?=&|#|$)`, 'g'), decides: named('rtext') },
      { pattern: field('pt|whatshere\\[point\\]|poi\\[point\\]'), order: 'lng first' },
      { pattern: field('ll'), order: 'lng first', isCentre: true },
    ],
  },
  {
    host: /(?:^|\.)2gis\.[a-z.]+$/,
    forms: [
      {
        pattern: new RegExp(`(?:\\||/points/[^?]*\\|)${pairWith(comma)}`, 'g'),
        order: 'lng first',
        decides: /\/directions\//,
      },
      { pattern: new RegExp(`/geo/(?:\\d{5,}/)?${pairWith(comma)}`, 'g'), order: 'lng first' },
      { pattern: field('m|center'), order: 'lng first', isCentre: true },
    ],
  },
  {
    host: /(?:^|\.)openstreetmap\.org$/,
    forms: [
      { pattern: field('to'), decides: named('to') },
      { pattern: new RegExp(`[?&]route=[^&#]*;${pairWith(comma)}(?=&|#|$)`, 'g'), decides: named('route') },
      { pattern: new RegExp(`[?&]mlat=(${number})&mlon=(${number})`, 'g') },
      { pattern: new RegExp(`#map=[\\d.]+/${pairWith('/')}`, 'g'), isCentre: true },
    ],
  },
  {
    host: /(?:^|\.)waze\.com$/,
    forms: [{ pattern: field('to', 'll\\.'), decides: named('to') }, { pattern: field('ll|latlng') }],
  },
  {
    host: /(?:^|\.)bing\.com$/,
    path: /^\/maps/,
    forms: [
      { pattern: new RegExp(`[?&]rtp=[^&]*~pos\\.${pairWith('_')}`, 'g'), decides: named('rtp') },
      { pattern: new RegExp(`[?&]sp=point\\.${pairWith('_')}`, 'g') },
      { pattern: new RegExp(`[?&]cp=${pairWith('~')}`, 'g'), isCentre: true },
    ],
  },
  {
    host: /(?:^|\.)here\.com$/,
    forms: [{ pattern: new RegExp(`/l/${pairWith(comma)}`, 'g') }, { pattern: field('map'), isCentre: true }],
  },
];

const isLink = (text: string): boolean => /^https?:\/\//i.test(text);

function appOf(link: string): (typeof apps)[number] | undefined {
  if (!URL.canParse(link)) return undefined;
  const { hostname, pathname } = new URL(link);
  return apps.find(({ host, path = /^/ }) => host.test(hostname) && path.test(pathname));
}

/** The point that a link or a `geo:` URI names; undefined for other text, null if it names no point that is understood. */
export function pointOfLink(text: string): LinkedPoint | null | undefined {
  const [, place = '', query = ''] = /^geo:([^;?]+)[^?]*\??(.*)$/i.exec(text) ?? [];
  if (place) {
    const forms: Form[] = [
      { pattern: field('q'), decides: named('q') },
      { pattern: new RegExp(`^${pairWith(comma)}`, 'g') },
    ];
    return firstPoint(query ? `${place}?${decoded(query)}` : place, forms);
  }
  if (!isLink(text)) return undefined;
  const app = appOf(text);
  return app ? firstPoint(decoded(text), app.forms) : null;
}

/** Decodes only the characters `,` `~` `|` `;` `[` `]` `/` and the blank. */
const decoded = (link: string): string =>
  link.replaceAll(/%(?:2c|7e|7c|3b|5b|5d|2f)/gi, decodeURIComponent).replaceAll(/%20|\+(?=[-\d])/g, ' ');

function firstPoint(link: string, forms: readonly Form[]): LinkedPoint | null {
  for (const { pattern, order, decides, isCentre } of forms) {
    const [, first, second] = [...link.matchAll(pattern)].at(-1) ?? [];
    const [lat, lng] = (order === 'lng first' ? [second, first] : [first, second]).map(Number);
    // A placeholder of the app.
    const isPlace = first !== undefined && !(lat === 0 && lng === 0);
    if (isPlace) return { lat: lat as number, lng: lng as number, ...(isCentre && { isCentre }) };
    if (decides?.test(link)) return null;
  }
  return null;
}

/** Why a text is no place, for texts that look like one; undefined for all others. */
export function linkFault(text: string): string | undefined {
  if (/(?:^|\s)[23456789CFGHJMPQRVWX]{2,8}\+[23456789CFGHJMPQRVWX]{2,3}(?:[\s,]|$)/i.test(text)) {
    return 'Plus codes are not read: enter coordinates such as 40.758, -73.9855';
  }
  if (
    /^\/\/\/?\p{L}+\.\p{L}+\.\p{L}+$/u.test(text) ||
    /^(?:https?:\/\/)?(?:www\.)?(?:w3w\.co|what3words\.com)\//i.test(text)
  ) {
    return 'Addresses of three words are not read: enter coordinates such as 40.758, -73.9855';
  }
  if (/^[+-]?0+(?:\.0+)?[\s,;]+[+-]?0+(?:\.0+)?$/.test(text)) return '0, 0 is not a place: it lies in the sea';
  if (/^geo:/i.test(text)) return 'This link has no coordinates: enter coordinates such as 40.758, -73.9855';
  if (!isLink(text)) return undefined;
  return appOf(text)
    ? 'This link does not say where its place is: enter the coordinates of the place, such as 40.758, -73.9855'
    : 'Links of this website are not read: open the link, and enter the coordinates of the place, such as 40.758, -73.9855';
}
