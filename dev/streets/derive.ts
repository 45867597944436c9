import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { encodeLine } from '../../shared/rides/path.ts';
import { largestCircuit } from './circuit.ts';
import { openWater } from './open-water.ts';

/**
 * `npx tsx dev/streets/derive.ts`: writes `gothenburg.tsv` from the OpenStreetMap extract in the npm package
 * `geojson-path-finder` 2.1.0, which it downloads. README.md names the licence and the changes.
 */

type Position = [lng: number, lat: number];
type Tags = Record<string, string>;
interface Way {
  id: string;
  tags: Tags;
  points: Position[];
}

const drivable =
  /^(motorway|trunk|primary|secondary|tertiary)(_link)?$|^(unclassified|residential|living_street|road|service)$/;
const withoutUse = new Set(['parking_aisle', 'drive-through', 'driveway', 'parking', 'bus']);
const closed = new Set(['no', 'private', 'delivery', 'psv', 'customers']);
/** A point this near to the line without it is left out, unless it is a junction. */
const toleranceMetres = 2;

const extract = readExtract();
const { drives, squares } = select(extract);
const junctions = junctionsOf(drives);
const streets = inCircuit(drives.map((way) => simplified(way)));
const lines = [...streets, ...squares, riverOf(extract, streets)].map(lineOf);
const head = '# © OpenStreetMap contributors, ODbL 1.0: see README.md\n# class\tproperties\tname\tshape\n';
fs.writeFileSync(path.join(import.meta.dirname, 'gothenburg.tsv'), `${head}${lines.join('\n')}\n`);

function readExtract(): Way[] {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'streets-'));
  try {
    execFileSync('npm', ['pack', '--silent', 'geojson-path-finder@2.1.0'], { cwd: folder });
    execFileSync('tar', ['-xzf', 'geojson-path-finder-2.1.0.tgz'], { cwd: folder });
    const { features } = JSON.parse(fs.readFileSync(path.join(folder, 'package/test/large-network.json'), 'utf8'));
    return features.map(({ id, properties, geometry }: Feature) => ({
      id,
      tags: properties,
      points: (geometry.type === 'Polygon' ? geometry.coordinates[0] : geometry.coordinates)?.map(rounded),
    }));
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

type Feature = { id: string; properties: Tags } & {
  geometry: { type: 'LineString'; coordinates: Position[] } | { type: 'Polygon'; coordinates: Position[][] };
};

/** 5 decimals: to about 1 m. */
function rounded([lng, lat]: Position): Position {
  return [Number(lng.toFixed(5)), Number(lat.toFixed(5))];
}

function select(ways: Way[]): { drives: Way[]; squares: Way[] } {
  const drives = ways.filter(
    ({ tags }) =>
      drivable.test(tags.highway ?? '') &&
      tags.area !== 'yes' &&
      !withoutUse.has(tags.service ?? '') &&
      !closed.has(tags.motorcar ?? tags.motor_vehicle ?? tags.vehicle ?? tags.access ?? ''),
  );
  const squares = ways.filter(({ tags }) => tags.area === 'yes' && tags.highway === 'pedestrian');
  return { drives, squares };
}

/** The points that belong to several ways, and the ends of ways. */
function junctionsOf(ways: Way[]): Set<string> {
  const seen = new Set<string>();
  const found = new Set<string>();
  for (const { points } of ways) {
    points.forEach((point, index) => {
      const isEnd = index === 0 || index === points.length - 1;
      if (isEnd || seen.has(String(point))) found.add(String(point));
      seen.add(String(point));
    });
  }
  return found;
}

/** The river, where the extract has neither streets nor paths: it has no water. */
function riverOf(ways: Way[], streets: Way[]): Way {
  const onGround = ways.filter(({ tags: { bridge = 'no', tunnel = 'no' } }) => bridge === 'no' && tunnel === 'no');
  const points = streets.flatMap((street) => street.points);
  const lngs = points.map(([lng]) => lng);
  const lats = points.map(([, lat]) => lat);
  const box = { west: Math.min(...lngs), south: Math.min(...lats), east: Math.max(...lngs), north: Math.max(...lats) };
  const outline = openWater(
    onGround.map((way) => way.points),
    box,
    [11.949, 57.7043],
    { north: 57.7418, west: 11.997, east: 12.0072 },
  );
  return simplified({ id: '', tags: { natural: 'water', name: 'Göta älv' }, points: outline.map(rounded) }, 12);
}

/** The way without the points that its shape does not need (Douglas-Peucker). */
function simplified(way: Way, tolerance = toleranceMetres): Way {
  const { points } = way;
  const isKept = (point: Position, index: number) =>
    index === 0 || index === points.length - 1 || junctions.has(String(point));
  const kept = new Set(points.flatMap((point, index) => (isKept(point, index) ? [index] : [])));
  const ends = [...kept];
  const pieces = ends.slice(1).map((end, index) => [ends[index] as number, end] as const);
  for (let piece = pieces.pop(); piece; piece = pieces.pop()) {
    const [from, to] = piece;
    let [farthest, most] = [0, tolerance];
    for (let index = from + 1; index < to; index++) {
      const metres = offset(points[index] as Position, points[from] as Position, points[to] as Position);
      if (metres > most) [farthest, most] = [index, metres];
    }
    if (farthest === 0) continue;
    kept.add(farthest);
    pieces.push([from, farthest], [farthest, to]);
  }
  return {
    ...way,
    points: points.filter((point, index) => kept.has(index) && String(point) !== String(points[index - 1])),
  };
}

/** The distance (m) of a point from the line between two others. */
function offset(point: Position, from: Position, to: Position): number {
  const flat = ([lng, lat]: Position) => [(lng - from[0]) * 59_400, (lat - from[1]) * 111_200] as const;
  const [[x, y], [dx, dy]] = [flat(point), flat(to)];
  const squared = dx * dx + dy * dy;
  const share = squared === 0 ? 0 : Math.min(1, Math.max(0, (x * dx + y * dy) / squared));
  return Math.hypot(x - dx * share, y - dy * share);
}

/** The parts of the ways from which a car reaches every other part, and comes back. */
function inCircuit(ways: Way[]): Way[] {
  const steps = ways.flatMap(({ tags, points }) =>
    points.slice(1).flatMap((to, index) => {
      const step = [String(points[index]), String(to)] as const;
      return isOneWay(tags) ? [step] : [step, [step[1], step[0]] as const];
    }),
  );
  const circuit = largestCircuit(steps);
  return ways.flatMap((way) => {
    const parts: Position[][] = [[]];
    for (const point of way.points) {
      if (circuit.has(String(point))) parts.at(-1)?.push(point);
      else parts.push([]);
    }
    return parts.filter(({ length }) => length > 1).map((points) => ({ ...way, points }));
  });
}

function isOneWay({ oneway, junction, highway }: Tags): boolean {
  return oneway === 'yes' || (oneway === undefined && (junction === 'roundabout' || /^motorway/.test(highway ?? '')));
}

function lineOf({ tags, points }: Way): string {
  const { highway = '', maxspeed = '', bridge, tunnel, name = '' } = tags;
  const properties = [
    isOneWay(tags) && 'oneway',
    /^\d+$/.test(maxspeed) && Number(maxspeed) >= 20 && `${maxspeed}`,
    bridge && bridge !== 'no' && 'bridge',
    tunnel === 'yes' && 'tunnel',
  ].filter(Boolean);
  const kind = tags.area === 'yes' ? 'square' : (tags.natural ?? highway);
  const shape = encodeLine(
    points.map(([lng, lat]) => ({ lat, lng })),
    5,
  );
  return [kind, properties.join(' '), name.replaceAll('\t', ' '), shape].join('\t');
}
