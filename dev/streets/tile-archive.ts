import { gzipSync } from 'node:zlib';
import { zxyToTileId } from 'pmtiles';

export interface Tile {
  zoom: number;
  x: number;
  y: number;
  /** A vector tile (pbf). */
  data: Uint8Array;
}

interface Region {
  /** Degrees: west, south, east, north. */
  bounds: readonly [number, number, number, number];
  minZoom: number;
  maxZoom: number;
  /** The metadata of the archive (JSON). */
  metadata: object;
}

const headerBytes = 127;
/** Readers fetch the header and the first directory in one request of this size. */
const firstRequestBytes = 16_384;

/**
 * A PMTiles archive, version 3, of vector tiles (docs.protomaps.com/pmtiles): the header, one compressed directory, the
 * metadata and the tiles in the order of their ids. The tiles must be so few that the directory fits into a reader's
 * first request.
 */
export function tileArchive(tiles: readonly Tile[], { bounds, minZoom, maxZoom, metadata }: Region): Buffer {
  const entries = tiles
    .map(({ zoom, x, y, data }) => ({ id: zxyToTileId(zoom, x, y), data: gzipSync(data) }))
    .sort((a, b) => a.id - b.id);
  const directory = gzipSync(
    Buffer.from(
      [
        [entries.length],
        entries.map(({ id }, index) => id - (entries[index - 1]?.id ?? 0)),
        entries.map(() => 1), // Each entry is one tile.
        entries.map(({ data }) => data.length),
        entries.map((_, index) => (index === 0 ? 1 : 0)), // The offset: 1 is the start, and 0 is after the last tile.
      ].flatMap((numbers) => numbers.flatMap(varint)),
    ),
  );
  if (headerBytes + directory.length > firstRequestBytes) throw new Error('too many tiles for one directory');
  const details = gzipSync(JSON.stringify(metadata));
  const contents = Buffer.concat(entries.map(({ data }) => data));

  const header = Buffer.alloc(headerBytes);
  header.write('PMTiles');
  header.writeUInt8(3, 7);
  const detailsAt = headerBytes + directory.length;
  const contentsAt = detailsAt + details.length;
  const sections = [
    ...[headerBytes, directory.length, detailsAt, details.length],
    ...[contentsAt, 0, contentsAt, contents.length], // No further directories.
    ...[entries.length, entries.length, entries.length],
  ];
  for (const [index, value] of sections.entries()) header.writeBigUInt64LE(BigInt(value), 8 + index * 8);
  const [clustered, gzip, vector] = [1, 2, 1];
  header.set([clustered, gzip, gzip, vector, minZoom, maxZoom], 96);
  const [west, south, east, north] = bounds;
  for (const [index, degrees] of bounds.entries()) header.writeInt32LE(e7(degrees), 102 + index * 4);
  header.writeUInt8(maxZoom, 118);
  header.writeInt32LE(e7((west + east) / 2), 119);
  header.writeInt32LE(e7((south + north) / 2), 123);
  return Buffer.concat([header, directory, details, contents]);
}

const e7 = (degrees: number) => Math.round(degrees * 1e7);

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}
