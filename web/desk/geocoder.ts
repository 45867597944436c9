import type { Config } from '../../shared/base/config.ts';
import type { Context } from '../../shared/base/context.ts';
import { describeError } from '../../shared/base/errors.ts';
import type { Point } from '../../shared/base/great-circle.ts';
import { shownText } from '../../shared/base/shown-text.ts';
import { fetchJson } from '../../shared/outbound/fetch-json.ts';
import { isOnEarth } from './coordinates.ts';

/** An address that the operator's geocoder found. */
export interface FoundAddress extends Point {
  label: string;
}

const mostResults = 5;
const maxLabel = 200;
/** Results within about this distance of the default pickup come first. */
const nearDegrees = 0.5;
/** Below the time in which a request must be answered (answer-in-time.ts), so that a hanging geocoder causes no 503. */
const limits = { purpose: 'address search', timeoutMs: 2_000, maxBytes: 65_536 } as const;

export const hasGeocoder = ({ secrets }: Pick<Config, 'secrets'>): boolean => secrets.geocoderUrl !== '';

/**
 * Searches addresses with the operator's geocoder, preferably near a point. Resolves with null if it gives no usable
 * answer within 2 s, which is logged without the query.
 */
export async function searchAddresses(
  { config, log }: Pick<Context, 'config' | 'log'>,
  query: string,
  near?: Point,
): Promise<FoundAddress[] | null> {
  try {
    const found = await fetchJson(searchUrl(config.secrets.geocoderUrl, query, near), limits);
    return addressesIn(found).slice(0, mostResults);
  } catch (error) {
    log.warn({ error: describeError(error) }, 'address search failed');
    return null;
  }
}

/** Photon refuses parameters that it does not know, so the two kinds of servers get different ones. */
function searchUrl(base: string, query: string, near?: Point): URL {
  const url = new URL(base);
  const isPhoton = /\/api\/?$/.test(url.pathname);
  if (url.pathname === '/') url.pathname = '/search';
  const { lat = 0, lng = 0 } = near ?? {};
  const sides = [lng - nearDegrees, lat + nearDegrees, lng + nearDegrees, lat - nearDegrees];
  const viewbox = sides.map((degrees) => degrees.toFixed(4)).join(',');
  const parameters = {
    ...{ q: query, limit: String(mostResults) },
    ...(!isPhoton && { format: 'jsonv2' }),
    ...(near && (isPhoton ? { lat: String(lat), lon: String(lng) } : { viewbox })),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}

/** The addresses in an answer of Nominatim (a list) or Photon (GeoJSON). Unusable entries are skipped. */
function addressesIn(answer: unknown): FoundAddress[] {
  const entries = Array.isArray(answer) ? answer.map(ofNominatim) : listIn(answer, 'features').map(ofPhoton);
  return entries.filter((entry) => entry.label !== '' && isOnEarth(entry));
}

const fieldOf = (value: unknown, name: string): unknown => (value as Record<string, unknown> | null)?.[name];

function listIn(answer: unknown, name: string): unknown[] {
  const list = fieldOf(answer, name);
  if (!Array.isArray(list)) throw new SyntaxError('not an answer of a geocoder');
  return list;
}

const ofNominatim = (entry: unknown): FoundAddress => ({
  label: textIn(entry, 'display_name'),
  lat: degreesIn(fieldOf(entry, 'lat')),
  lng: degreesIn(fieldOf(entry, 'lon')),
});

function ofPhoton(feature: unknown): FoundAddress {
  const at = fieldOf(fieldOf(feature, 'geometry'), 'coordinates');
  const facts = fieldOf(feature, 'properties');
  const street = [textIn(facts, 'housenumber'), textIn(facts, 'street')].filter(Boolean).join(' ');
  const city = [textIn(facts, 'postcode'), textIn(facts, 'city')].filter(Boolean).join(' ');
  const parts = [textIn(facts, 'name'), street, city, textIn(facts, 'state'), textIn(facts, 'country')];
  const label = [...new Set(parts.filter(Boolean))].join(', ').slice(0, maxLabel).trim();
  return { label, lat: degreesIn(fieldOf(at, '1')), lng: degreesIn(fieldOf(at, '0')) };
}

function textIn(entry: unknown, name: string): string {
  const text = fieldOf(entry, name);
  return typeof text === 'string'
    ? shownText(text)
        .replace(/\s+/g, ' ')
        .trimStart()
        .slice(0, maxLabel)
        // Forms send their texts trimmed, so a label that is cut at a space must not end with it.
        .trimEnd()
    : '';
}

/** NaN if it is no number; then `isOnEarth` is false. */
const degreesIn = (value: unknown): number =>
  typeof value === 'number' || (typeof value === 'string' && value !== '') ? Number(value) : Number.NaN;
