import { haversineKm, type Point, radians } from '../base/great-circle.ts';

/** The line of a route: its text, its length, and places on it. Pure: browsers use this file too. */

export interface Path {
  points: readonly Point[];
  /** The distance (km) from the start to each point. */
  km: readonly number[];
}

type Decimals = 5 | 6;

/** Writes points as an encoded polyline, with 6 decimals the format `polyline6` of OSRM. */
export function encodeLine(points: readonly Point[], decimals: Decimals = 6): string {
  const scale = 10 ** decimals;
  let [lastLat, lastLng] = [0, 0];
  let text = '';
  for (const { lat, lng } of points) {
    const [nextLat, nextLng] = [Math.round(lat * scale), Math.round(lng * scale)];
    text += encodeNumber(nextLat - lastLat) + encodeNumber(nextLng - lastLng);
    [lastLat, lastLng] = [nextLat, nextLng];
  }
  return text;
}

function encodeNumber(value: number): string {
  let rest = value < 0 ? -value * 2 - 1 : value * 2;
  let text = '';
  for (; rest >= 32; rest = Math.floor(rest / 32)) text += String.fromCharCode((rest % 32) + 32 + 63);
  return text + String.fromCharCode(rest + 63);
}

/** Reads an encoded polyline. Returns null for a text that is not one, or leaves the earth. */
export function decodeLine(text: string, decimals: Decimals = 6): Point[] | null {
  const scale = 10 ** decimals;
  const numbers: number[] = [];
  let [value, factor] = [0, 1];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index) - 63;
    if (code < 0 || code > 63 || factor > 2 ** 30) return null;
    value += (code % 32) * factor;
    factor *= 32;
    if (code >= 32) continue;
    numbers.push(value % 2 ? -(value + 1) / 2 : value / 2);
    [value, factor] = [0, 1];
  }
  if (factor > 1 || numbers.length % 2) return null;
  let [lat, lng] = [0, 0];
  const points: Point[] = [];
  for (let index = 0; index < numbers.length; index += 2) {
    lat += numbers[index] ?? 0;
    lng += numbers[index + 1] ?? 0;
    if (Math.abs(lat) > 90 * scale || Math.abs(lng) > 180 * scale) return null;
    points.push({ lat: lat / scale, lng: lng / scale });
  }
  return points;
}

/** The path along these points. */
export function pathAlong(points: readonly Point[]): Path {
  const km: number[] = [];
  let total = 0;
  points.forEach((point, index) => {
    total += haversineKm(points[index - 1] ?? point, point);
    km.push(total);
  });
  return { points, km };
}

export const lengthKm = ({ km }: Path): number => km.at(-1) ?? 0;

/** The point `km` after the start of a path, and the two points of the path between which it lies. */
export function pointAlong({ points, km: ends }: Path, km: number): { at: Point; from: Point; to: Point } {
  // The first piece that ends behind the point, so the piece has a length.
  const found = ends.findIndex((end) => end > km);
  const index = found > 0 ? found : found === 0 ? 1 : lastPiece(ends);
  const [from, to] = [points[index - 1] as Point, (points[index] ?? points[index - 1]) as Point];
  const [start = 0, end = 0] = [ends[index - 1], ends[index]];
  const share = end > start ? Math.min(1, Math.max(0, (km - start) / (end - start))) : 1;
  return { at: between(from, to, share), from, to };
}

/** The last piece that has a length. */
function lastPiece(ends: readonly number[]): number {
  let index = ends.length - 1;
  while (index > 1 && ends[index] === ends[index - 1]) index -= 1;
  return Math.max(1, index);
}

/** The rest of a path that begins `km` after its start, after another first point. */
export function restAfter(path: Path, km: number, first: Point): Path {
  const next = path.km.findIndex((end) => end > km);
  const rest = next < 0 ? path.points.slice(-1) : path.points.slice(next);
  return pathAlong([first, pointAlong(path, km).at, ...rest]);
}

/** The place on a path that is nearest to a point: its distance from the point and from the start of the path (km). */
export function nearestOn({ points, km }: Path, point: Point): { offKm: number; km: number } {
  const flat = flattened(points, point);
  let nearest = { offKm: Number.POSITIVE_INFINITY, km: 0 };
  flat.forEach((end, index) => {
    const { offKm, share } = distanceTo({ x: 0, y: 0 }, flat[index - 1] ?? end, end);
    const [before = 0, after = 0] = [km[index - 1] ?? km[index], km[index]];
    if (offKm < nearest.offKm) nearest = { offKm, km: before + (after - before) * share };
  });
  return nearest;
}

interface Flat {
  x: number;
  y: number;
}

const kmPerDegree = 111.195;

/** The points in km to the east and the north of one point. */
function flattened(points: readonly Point[], around: Point): Flat[] {
  const kmPerLng = kmPerDegree * Math.cos(radians(around.lat));
  return points.map(({ lat, lng }) => ({
    x: shorterWay(around.lng, lng) * kmPerLng,
    y: (lat - around.lat) * kmPerDegree,
  }));
}

/** The distance (km) of a point from the line between two others, and the share of the line before that place. */
function distanceTo(point: Flat, from: Flat, to: Flat): { offKm: number; share: number } {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const squared = dx * dx + dy * dy;
  const along = squared === 0 ? 0 : ((point.x - from.x) * dx + (point.y - from.y) * dy) / squared;
  const share = Math.min(1, Math.max(0, along));
  return { offKm: Math.hypot(from.x + dx * share - point.x, from.y + dy * share - point.y), share };
}

/** Removes the points that are less than `metres` beside the line without them (Douglas-Peucker). */
export function simplified(points: readonly Point[], metres: number): Point[] {
  const last = points.length - 1;
  const flat = flattened(points, points[last >> 1] as Point);
  const kept = new Set([0, last]);
  const pieces: [start: number, end: number][] = [[0, last]];
  for (let piece = pieces.pop(); piece; piece = pieces.pop()) {
    const [start, end] = piece;
    let [farthest, mostKm] = [0, metres / 1_000];
    for (let index = start + 1; index < end; index++) {
      const { offKm } = distanceTo(flat[index] as Flat, flat[start] as Flat, flat[end] as Flat);
      if (offKm > mostKm) [farthest, mostKm] = [index, offKm];
    }
    if (farthest === 0) continue;
    kept.add(farthest);
    pieces.push([start, farthest], [farthest, end]);
  }
  return points.filter((_, index) => kept.has(index));
}

/** The shorter turn from one angle to another, -180 to 180 degrees. */
export const shorterWay = (from: number, to: number): number => ((((to - from + 180) % 360) + 360) % 360) - 180;

const between = (from: Point, to: Point, share: number): Point => ({
  lat: from.lat + (to.lat - from.lat) * share,
  lng: shorterWay(0, from.lng + shorterWay(from.lng, to.lng) * share),
});
