import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import GeoJSONVT from 'geojson-vt';
import { fromGeojsonVt } from 'vt-pbf';
import { isArea, readStreets, type Street, streetFile } from './street-file.ts';
import { type Tile, tileArchive } from './tile-archive.ts';

const cache = path.join(import.meta.dirname, '../../.cache');
const minZoom = 10;
const maxZoom = 14;

/**
 * The path of a `.pmtiles` file of the city's streets, in the schema of Protomaps. Builds it if it is not in the
 * project's cache, which takes about a second.
 */
export async function streetTiles(): Promise<string> {
  const hash = createHash('sha256');
  for (const source of [streetFile, import.meta.filename]) hash.update(await fs.readFile(source));
  const file = path.join(cache, `gothenburg-${hash.digest('hex').slice(0, 12)}.pmtiles`);
  if (!existsSync(file)) {
    const part = `${file}.${process.pid}`;
    await fs.mkdir(cache, { recursive: true });
    await fs.writeFile(part, archiveOf(await readStreets()));
    await fs.rename(part, file);
  }
  return file;
}

/** The tiles of streets, as a PMTiles archive. */
export function archiveOf(streets: readonly Street[]): Buffer {
  const bounds = boundsOf(streets);
  const [west, south, east, north] = bounds;
  const earth = [west, south, west, north, east, north, east, south, west, south];
  const layers = {
    earth: [feature('Polygon', pairs(earth), { kind: 'earth' })],
    water: streets
      .filter(({ kind }) => kind === 'water')
      .map((street) => feature('Polygon', positions(street), { kind: 'water', name: street.name })),
    landuse: streets
      .filter(({ kind }) => kind === 'square')
      .map((street) => feature('Polygon', positions(street), { kind: 'pedestrian', min_zoom: 13 })),
    roads: joined(streets.filter((street) => !isArea(street))).map((street) =>
      feature('LineString', positions(street), roadTags(street)),
    ),
  };
  const indexes = Object.entries(layers).map(
    ([name, features]) =>
      [name, new GeoJSONVT({ type: 'FeatureCollection', features }, { maxZoom, indexMaxZoom: maxZoom })] as const,
  );
  const tiles: Tile[] = [];
  for (let zoom = minZoom; zoom <= maxZoom; zoom++) {
    const [left, top] = tileAt(west, north, zoom);
    const [right, bottom] = tileAt(east, south, zoom);
    for (let x = left; x <= right; x++) {
      for (let y = top; y <= bottom; y++) tiles.push({ zoom, x, y, data: tileOf(indexes, zoom, x, y) });
    }
  }
  const vectorLayers = Object.keys(layers).map((id) => ({ id, fields: {} }));
  const metadata = { name: 'Gothenburg', attribution: '© OpenStreetMap contributors', vector_layers: vectorLayers };
  return tileArchive(tiles, { bounds, minZoom, maxZoom, metadata });
}

/** The streets, with one line for the ways of a street that continue each other: a label needs a long line. */
export function joined(streets: readonly Street[]): Street[] {
  const linesAt = new Map<string, Street[]>();
  const lines = new Set<Street>();
  for (const way of streets) {
    const tags = JSON.stringify(roadTags(way));
    const ends = (line: Street) => [line.shape[0], line.shape.at(-1)].map((point) => tags + JSON.stringify(point));
    let line = way;
    // Joins a line at the start, then turns around and joins one at the other end.
    for (let side = 0; side < 2; side++) {
      const [start = ''] = ends(line);
      const other = way.name ? linesAt.get(start)?.find((each) => lines.has(each)) : undefined;
      if (other) {
        lines.delete(other);
        const before = ends(other)[0] === start ? other.shape.toReversed() : other.shape;
        line = { ...line, shape: [...before, ...line.shape.slice(1)] };
      }
      line = { ...line, shape: line.shape.toReversed() };
    }
    lines.add(line);
    for (const end of ends(line)) linesAt.set(end, [...(linesAt.get(end) ?? []), line]);
  }
  return [...lines];
}

function tileOf(indexes: readonly (readonly [string, GeoJSONVT])[], zoom: number, x: number, y: number): Uint8Array {
  const layers: Record<string, unknown> = {};
  for (const [name, index] of indexes) {
    const features = index.getTile(zoom, x, y)?.features ?? [];
    layers[name] = { features: features.filter(({ tags }) => Number(tags?.min_zoom ?? 0) <= zoom) };
  }
  return fromGeojsonVt(layers as Parameters<typeof fromGeojsonVt>[0], { version: 2 });
}

/** The properties of a road in the schema of Protomaps. */
function roadTags({ kind: highway, name, level }: Street) {
  const detail = highway.replace('_link', '');
  const isMain = /^(trunk|primary|secondary|tertiary)$/.test(detail);
  return {
    kind: detail === 'motorway' ? 'highway' : isMain ? 'major_road' : 'minor_road',
    kind_detail: detail,
    min_zoom: detail === 'service' ? 14 : detail === 'motorway' || isMain ? 0 : 12,
    ...(name && { name }),
    ...(highway !== detail && { is_link: true }),
    ...(level && { [`is_${level}`]: true }),
  };
}

type Properties = Record<string, string | number | boolean>;

const feature = (type: 'Polygon' | 'LineString', line: number[][], properties: Properties) => ({
  type: 'Feature' as const,
  properties,
  geometry:
    type === 'Polygon'
      ? { type: 'Polygon' as const, coordinates: [line] }
      : { type: 'LineString' as const, coordinates: line },
});

const positions = ({ shape }: Street) => shape.map(({ lat, lng }) => [lng, lat]);

const pairs = (numbers: number[]) =>
  numbers.flatMap((number, index) => (index % 2 ? [[numbers[index - 1] as number, number]] : []));

function boundsOf(streets: readonly Street[]): [number, number, number, number] {
  const points = streets.flatMap(({ shape }) => shape);
  const lats = points.map(({ lat }) => lat);
  const lngs = points.map(({ lng }) => lng);
  return [Math.min(...lngs), Math.min(...lats), Math.max(...lngs), Math.max(...lats)];
}

/** The tile of a point, in the Web Mercator projection. */
function tileAt(lng: number, lat: number, zoom: number): [x: number, y: number] {
  const mercator = Math.asinh(Math.tan((lat * Math.PI) / 180)) / Math.PI;
  return [Math.floor(((lng + 180) / 360) * 2 ** zoom), Math.floor(((1 - mercator) / 2) * 2 ** zoom)];
}
