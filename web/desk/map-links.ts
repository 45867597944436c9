import type { Point } from '../../shared/base/great-circle.ts';

/** Links of map apps, as people paste them at the desk. Pure: the browser also runs it. */

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

const number = String.raw`[+-]?\d{1,3}(?:\.\d+)?`;
const pair = (separator: string): string => `(${number})${separator}(${number})`;
const comma = String.raw`\s*,\s*`;
/** A field of the query or the fragment. */
const field = (names: string, before = ''): RegExp => new RegExp(`[?&#](?:${names})=${before}${pair(comma)}`, 'g');
const named = (names: string): RegExp => new RegExp(`[?&#](?:${names})=[^&#]`);

const google: Form[] = [
  { pattern: field('daddr|destination'), decides: named('daddr|destination') },
  // The destination is the last place of the path, and is followed by the camera or the data.
  { pattern: new RegExp(`/dir/[^@?]*/${pair(comma)}/?(?=/(?:@|data=|am=)|[?#]|$)`, 'g') },
  { pattern: new RegExp(`!2m2!1d(${number})!2d(${number})`, 'g'), order: 'lng first', decides: /\/dir\// },
  { pattern: new RegExp(`!3d(${number})!4d(${number})`, 'g') },
  { pattern: field('q|query', '(?:loc:)?') },
  { pattern: new RegExp(`/(?:place|search)/${pair(comma)}(?=[/?#]|$)`, 'g') },
  { pattern: field('ll') },
  { pattern: new RegExp(`@${pair(',')}`, 'g'), isCentre: true },
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
      { pattern: new RegExp(`[?&]rtext=[^&]*~${pair(comma)}(?=&|#|$)`, 'g'), decides: named('rtext') },
      { pattern: field('pt|whatshere\\[point\\]|poi\\[point\\]'), order: 'lng first' },
      { pattern: field('ll'), order: 'lng first', isCentre: true },
    ],
  },
  {
    host: /(?:^|\.)2gis\.[a-z.]+$/,
    forms: [
      {
        pattern: new RegExp(`(?:\\||/points/[^?]*\\|)${pair(comma)}`, 'g'),
        order: 'lng first',
        decides: /\/directions\//,
      },
      { pattern: new RegExp(`/geo/(?:\\d{5,}/)?${pair(comma)}`, 'g'), order: 'lng first' },
      { pattern: field('m|center'), order: 'lng first', isCentre: true },
    ],
  },
  {
    host: /(?:^|\.)openstreetmap\.org$/,
    forms: [
      { pattern: field('to'), decides: named('to') },
      { pattern: new RegExp(`[?&]route=[^&#]*;${pair(comma)}(?=&|#|$)`, 'g'), decides: named('route') },
      { pattern: new RegExp(`[?&]mlat=(${number})&mlon=(${number})`, 'g') },
      { pattern: new RegExp(`#map=[\\d.]+/${pair('/')}`, 'g'), isCentre: true },
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
      { pattern: new RegExp(`[?&]rtp=[^&]*~pos\\.${pair('_')}`, 'g'), decides: named('rtp') },
      { pattern: new RegExp(`[?&]sp=point\\.${pair('_')}`, 'g') },
      { pattern: new RegExp(`[?&]cp=${pair('~')}`, 'g'), isCentre: true },
    ],
  },
  {
    host: /(?:^|\.)here\.com$/,
    forms: [{ pattern: new RegExp(`/l/${pair(comma)}`, 'g') }, { pattern: field('map'), isCentre: true }],
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
      { pattern: new RegExp(`^${pair(comma)}`, 'g') },
    ];
    return firstPoint(query ? `${place}?${decoded(query)}` : place, forms);
  }
  if (!isLink(text)) return undefined;
  const app = appOf(text);
  return app ? firstPoint(decoded(text), app.forms) : null;
}

const decoded = (link: string): string =>
  link
    .replaceAll(/%2c/gi, ',')
    .replaceAll(/%7e/gi, '~')
    .replaceAll(/%7c/gi, '|')
    .replaceAll(/%3b/gi, ';')
    .replaceAll(/%5b/gi, '[')
    .replaceAll(/%5d/gi, ']')
    .replaceAll(/%2f/gi, '/')
    .replaceAll(/%20|\+(?=[-\d])/g, ' ');

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
