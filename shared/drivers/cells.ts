import { earthRadiusKm, haversineKm, type Point, radians } from '../base/great-circle.ts';

/**
 * The earth is divided into cells once for each of these widths (km, approximate), so that an ordinary index finds
 * nearby drivers. A search takes 1 to 3 ms. A 2dsphere index reads every driver in rings that it chooses itself, which
 * took 60 to 600 ms near a crowd of drivers.
 */
const widthsKm = [0.25, 1, 4, 16, 64];
/** A search uses cells of one width up to this many widths from its middle, and wider cells beyond that. */
const maxWidthsAway = 8;

const kmPerDegree = (earthRadiusKm * Math.PI) / 180;
const maxRows = 100_000;
const maxColumns = 200_000;

/** The cell of each width that contains a place, as stored with a driver's position. Pure. */
export const cellsAt = (place: Point): number[] => widthsKm.map((width, level) => cellAt(place, width, level));

/** From this level on, a cell (4 km and wider) is coarser than the place that an erased ride keeps. */
const firstWideLevel = 2;

/** The wide cells that contain a place, as stored with an open ride. Pure. */
export const wideCellsAt = (place: Point): number[] => cellsAt(place).slice(firstWideLevel);

/** The wide cells, all of one width, that cover a circle. Pure. */
export const wideCellsAround = (middle: Point, radiusKm: number): number[] =>
  idsBetween(middle, 0, radiusKm, Math.max(firstWideLevel, levelOf(radiusKm / 4)));

/** The cells in which a driver can enter or leave a circle without leaving the cell. Pure. */
export const cellsAtEdge = (middle: Point, radiusKm: number): number[] =>
  idsBetween(middle, radiusKm, radiusKm, levelOf(radiusKm / 48));

const idsBetween = (...search: Parameters<typeof cellsBetween>): number[] =>
  cellsBetween(...search).map(({ id }) => id);

/** The narrowest level whose cells have at least this width, or the widest one. */
function levelOf(widthKm: number): number {
  const level = widthsKm.findIndex((width) => width >= widthKm);
  return level === -1 ? widthsKm.length - 1 : level;
}

/** The cell of about `width` km that contains a place. Each width has its own level. Pure. */
export function cellAt({ lat, lng }: Point, width: number, level: number): number {
  const row = rowAt(lat, width);
  const columns = columnsIn(row, width);
  return cellId(level, row, Math.min(columns - 1, Math.floor(((lng + 180) / 360) * columns)));
}

const rowAt = (lat: number, width: number): number => Math.floor(((lat + 90) * kmPerDegree) / width);
const middleOf = (row: number, width: number): number => Math.min(90, ((row + 0.5) * width) / kmPerDegree - 90);

/** The number of cells of about this width in one row around the earth; 1 at the poles. */
function columnsIn(row: number, width: number): number {
  const around = 360 * kmPerDegree * Math.cos(radians(middleOf(row, width)));
  return Math.max(1, Math.floor(around / width));
}

const cellId = (level: number, row: number, column: number): number => (level * maxRows + row) * maxColumns + column;

/** A part of the circle of a search: the area around its middle, or a band around the previous zone. */
interface Zone {
  /** Its outer radius. */
  toKm: number;
  /** Its cells in rings, the nearest first. */
  rings: number[][];
}

/**
 * The cells that cover a circle, in zones, the nearest first. They contain every place within the radius, and some
 * places slightly further away. Cells at the border of two zones are in both. Zones further out have wider cells and
 * rings, and are computed only when they are needed. Pure.
 */
export function* zonesAround(middle: Point, radiusKm: number): Generator<Zone> {
  let fromKm = 0;
  for (const [level, width] of widthsKm.entries()) {
    const isLast = level === widthsKm.length - 1;
    const toKm = isLast ? radiusKm : Math.min(radiusKm, maxWidthsAway * width);
    yield { toKm, rings: ringsOf(cellsBetween(middle, fromKm, toKm, level), fromKm, width) };
    if (toKm >= radiusKm) return;
    fromKm = toKm;
  }
}

interface CellAway {
  id: number;
  km: number;
}

/** The cells of one width that may contain a place between these distances. */
function cellsBetween(middle: Point, fromKm: number, toKm: number, level: number): CellAway[] {
  const width = widthsKm[level] ?? 1;
  const found: CellAway[] = [];
  const last = rowAt(90, width);
  for (
    let row = Math.max(0, rowAt(middle.lat - toKm / kmPerDegree, width));
    row <= Math.min(last, rowAt(middle.lat + toKm / kmPerDegree, width));
    row++
  ) {
    const columns = columnsIn(row, width);
    const lat = middleOf(row, width);
    // In a row with few cells, a cell is up to twice as wide as `width`.
    const halfDiagonal = Math.hypot(width, (360 * kmPerDegree * Math.cos(radians(lat))) / columns) / 2 + 0.01 * width;
    for (const column of columnsNear(middle, lat, toKm + halfDiagonal, columns)) {
      const km = haversineKm(middle, { lat, lng: ((column + 0.5) / columns) * 360 - 180 });
      if (km - halfDiagonal <= toKm && km + halfDiagonal >= fromKm) found.push({ id: cellId(level, row, column), km });
    }
  }
  return found;
}

/** The columns of a row that a circle can touch; all columns if the circle contains a pole. */
function columnsNear(middle: Point, lat: number, radiusKm: number, columns: number): number[] {
  const span = Math.ceil((longitudesWithin(middle, lat, radiusKm) / 360) * columns) + 1;
  if (2 * span + 1 >= columns) return Array.from({ length: columns }, (_, column) => column);
  const at = Math.floor(((middle.lng + 180) / 360) * columns);
  return Array.from({ length: 2 * span + 1 }, (_, index) => (((at + index - span) % columns) + columns) % columns);
}

/** Half the width of a circle at a latitude, in degrees of longitude (spherical law of cosines). */
function longitudesWithin(middle: Point, lat: number, radiusKm: number): number {
  const [here, there] = [radians(middle.lat), radians(lat)];
  const cosines = Math.cos(here) * Math.cos(there);
  if (cosines < 1e-9) return 180;
  const cosine = (Math.cos(radiusKm / earthRadiusKm) - Math.sin(here) * Math.sin(there)) / cosines;
  return (Math.acos(Math.min(1, Math.max(-1, cosine))) * 180) / Math.PI;
}

/** Groups cells into rings by distance, each at least one cell wide; outer rings are wider, to keep them few. */
function ringsOf(cells: CellAway[], fromKm: number, width: number): number[][] {
  const rings: number[][] = [];
  let ringEndsKm = fromKm;
  for (const { id, km } of cells.sort((a, b) => a.km - b.km)) {
    if (rings.length === 0 || km > ringEndsKm) {
      ringEndsKm = Math.max(ringEndsKm + width, ringEndsKm * 1.4);
      rings.push([]);
    }
    rings.at(-1)?.push(id);
  }
  return rings;
}
