type Position = [lng: number, lat: number];

const cellMetres = 10;
const [metresPerLng, metresPerLat] = [59_400, 111_200];
/** The water has places that are this far from every way, and ends this far from the nearest way. */
const [openMetres, edgeMetres] = [50, 12];

interface Box {
  west: number;
  south: number;
  east: number;
  north: number;
}

/**
 * The outline of the water around `start`, estimated as the area in `box` without ways. Reaches the edge of the box where
 * the water does. `gate` limits where it crosses a latitude to the north, because the ways end there.
 */
export function openWater(
  ways: readonly Position[][],
  box: Box,
  start: Position,
  gate: Pick<Box, 'west' | 'east' | 'north'>,
): Position[] {
  const columns = Math.ceil(((box.east - box.west) * metresPerLng) / cellMetres);
  const rows = Math.ceil(((box.north - box.south) * metresPerLat) / cellMetres);
  const columnOf = (lng: number) => ((lng - box.west) * metresPerLng) / cellMetres;
  const rowOf = (lat: number) => ((lat - box.south) * metresPerLat) / cellMetres;
  const distance = distances(
    ways.map((way) => way.map(([lng, lat]) => [columnOf(lng), rowOf(lat)])),
    columns,
    rows,
  );
  const isInGate = (column: number, row: number) =>
    row < rowOf(gate.north) || (column > columnOf(gate.west) && column < columnOf(gate.east));
  const isWater = (cell: number, metres: number) =>
    (distance[cell] ?? 0) > metres / cellMetres && isInGate(cell % columns, Math.floor(cell / columns));

  const neighbours = (cell: number) => [
    ...(cell % columns > 0 ? [cell - 1] : []),
    ...(cell % columns < columns - 1 ? [cell + 1] : []),
    ...[cell - columns, cell + columns].filter((next) => next >= 0 && next < columns * rows),
  ];
  const grow = (from: Iterable<number>, metres: number, steps: number): Set<number> => {
    const found = new Set(from);
    let edge = [...found];
    for (let step = 0; step < steps && edge.length > 0; step++) {
      edge = edge.flatMap(neighbours).filter((cell) => !found.has(cell) && isWater(cell, metres) && found.add(cell));
    }
    return found;
  };
  const first = Math.floor(rowOf(start[1])) * columns + Math.floor(columnOf(start[0]));
  const open = grow([first], openMetres, Number.POSITIVE_INFINITY);
  const water = grow(open, edgeMetres, Math.round((openMetres - edgeMetres) / cellMetres) + 1);
  return outline(water, columns).map(([column, row]) => [
    box.west + (column * cellMetres) / metresPerLng,
    box.south + (row * cellMetres) / metresPerLat,
  ]);
}

/** The distance of each cell from the nearest way, in cells. */
function distances(ways: number[][][], columns: number, rows: number): Float64Array {
  const distance = new Float64Array(columns * rows).fill(Number.POSITIVE_INFINITY);
  for (const way of ways) {
    way.slice(1).forEach(([toColumn = 0, toRow = 0], index) => {
      const [column = 0, row = 0] = way[index] ?? [];
      const steps = Math.ceil(Math.hypot(toColumn - column, toRow - row) * 2) + 1;
      for (let step = 0; step <= steps; step++) {
        const x = Math.floor(column + ((toColumn - column) * step) / steps);
        const y = Math.floor(row + ((toRow - row) * step) / steps);
        if (x >= 0 && x < columns && y >= 0 && y < rows) distance[y * columns + x] = 0;
      }
    });
  }
  // Two passes, from the first cell to the last one and back, each with the neighbours that were passed before.
  for (const direction of [1, -1]) {
    for (let count = 0; count < distance.length; count++) {
      const cell = direction === 1 ? count : distance.length - 1 - count;
      const column = cell % columns;
      for (const [x, y] of [
        [-direction, 0],
        [-1, -direction],
        [0, -direction],
        [1, -direction],
      ] as const) {
        if (column + x < 0 || column + x >= columns) continue;
        const other = (distance[cell + y * columns + x] ?? Number.POSITIVE_INFINITY) + Math.hypot(x, y);
        distance[cell] = Math.min(distance[cell] as number, other);
      }
    }
  }
  return distance;
}

/** The longest outline of a set of cells, as corners of cells. */
function outline(cells: ReadonlySet<number>, columns: number): [column: number, row: number][] {
  const width = columns + 1;
  const next = new Map<number, number[]>();
  for (const cell of cells) {
    const corner = Math.floor(cell / columns) * width + (cell % columns);
    const isFirst = cell % columns === 0;
    const isLast = cell % columns === columns - 1;
    for (const [from, to, other] of [
      [corner, corner + 1, cell - columns],
      [corner + 1, corner + 1 + width, isLast ? -1 : cell + 1],
      [corner + 1 + width, corner + width, cell + columns],
      [corner + width, corner, isFirst ? -1 : cell - 1],
    ] as const) {
      if (!cells.has(other)) next.set(from, [...(next.get(from) ?? []), to]);
    }
  }
  let longest: number[] = [];
  for (const start of next.keys()) {
    const ring: number[] = [];
    for (let at = next.get(start)?.pop(); at !== undefined; at = next.get(at)?.pop()) ring.push(at);
    if (ring.length > longest.length) longest = ring;
  }
  return [...longest, ...longest.slice(0, 1)].map((corner) => [corner % width, Math.floor(corner / width)]);
}
