import fs from 'node:fs/promises';
import path from 'node:path';
import type { Point } from '../../shared/base/great-circle.ts';
import { decodeLine } from '../../shared/rides/path.ts';

/** A way of `gothenburg.tsv` (README.md). */
export interface Street {
  /** OpenStreetMap's class, such as `residential`; `square` or `water` for the outline of one. */
  kind: string;
  name: string;
  /** True if cars may only drive in the direction of the shape. */
  isOneWay: boolean;
  /** The speed limit in km/h, if the extract has it. */
  limit?: number;
  /** The level relative to the ground. */
  level?: 'bridge' | 'tunnel';
  shape: Point[];
}

/** True for an outline: no car drives there. */
export const isArea = ({ kind }: Street): boolean => kind === 'square' || kind === 'water';

export const streetFile = path.join(import.meta.dirname, 'gothenburg.tsv');

/** The streets, the squares and the river of the city. */
export async function readStreets(): Promise<Street[]> {
  const lines = (await fs.readFile(streetFile, 'utf8')).split('\n');
  return lines.filter((line) => line && !line.startsWith('#')).map(streetIn);
}

function streetIn(line: string): Street {
  const [kind = '', properties = '', name = '', shape = ''] = line.split('\t');
  const words = properties.split(' ');
  return {
    kind,
    name,
    isOneWay: words.includes('oneway'),
    limit: words.map(Number).find((limit) => limit > 0),
    level: (['bridge', 'tunnel'] as const).find((level) => words.includes(level)),
    shape: decodeLine(shape, 5) ?? [],
  };
}
