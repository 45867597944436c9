import { writeFile } from 'node:fs/promises';

/** Writes a `.pmtiles` file (version 3) in which every tile of the world has land and one main street from west to east. */
export const writeTileFile = (file: string): Promise<void> => writeFile(file, tileFile());

function tileFile(): Buffer {
  // One entry of the directory: its first id, how many tiles have the same content, its length and its place.
  const lastZoom = 15;
  const tiles = (4 ** (lastZoom + 1) - 1) / 3;
  const root = Buffer.from([1, 0, tiles, tile.length, 1].flatMap(varint));
  const header = Buffer.alloc(127);
  header.write('PMTiles');
  header[7] = 3;
  const [rootAt, tilesAt] = [header.length, header.length + root.length];
  const numbers = [rootAt, root.length, tilesAt, 0, tilesAt, 0, tilesAt, tile.length, tiles, 1, 1];
  for (const [index, number] of numbers.entries()) header.writeBigUInt64LE(BigInt(number), 8 + index * 8);
  // Clustered, nothing compressed, vector tiles, the zooms, and the bounds in 1e-7 degrees.
  header.set([1, 1, 1, 1, 0, lastZoom], 96);
  for (const [index, degrees] of [-180, -85, 180, 85].entries()) header.writeInt32LE(degrees * 1e7, 102 + index * 4);
  return Buffer.concat([header, root, tile]);
}

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];

/** A field of a message of protocol buffers. */
const field = (id: number, value: number | string | number[]): number[] => {
  if (typeof value === 'number') return [...varint(id * 8), ...varint(value)];
  const bytes = typeof value === 'string' ? [...Buffer.from(value)] : value;
  return [...varint(id * 8 + 2), ...varint(bytes.length), ...bytes];
};

const extent = 4_096;
const zigzag = (value: number): number => (value < 0 ? -2 * value - 1 : 2 * value);
const moveTo = (x: number, y: number) => [9, zigzag(x), zigzag(y)];
const lineTo = (...steps: [x: number, y: number][]) => [steps.length * 8 + 2, ...steps.flat().map(zigzag)];
const closePath = 15;

/** A layer of a vector tile, with one feature of a kind. */
const layer = (name: string, kind: string, type: 2 | 3, geometry: number[]): number[] =>
  field(3, [
    ...field(15, 2),
    ...field(1, name),
    ...field(2, [...field(2, [0, 0]), ...field(3, type), ...field(4, geometry.flatMap(varint))]),
    ...field(3, 'kind'),
    ...field(4, field(1, kind)),
    ...field(5, extent),
  ]);

const square = [...moveTo(0, 0), ...lineTo([extent, 0], [0, extent], [-extent, 0]), closePath];
const street = [...moveTo(0, extent / 2), ...lineTo([extent, 0])];
const tile = Buffer.from([...layer('earth', 'earth', 3, square), ...layer('roads', 'highway', 2, street)]);
