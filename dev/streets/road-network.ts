import createGraph, { type NodeId } from 'ngraph.graph';
import { nba } from 'ngraph.path';
import { haversineKm, type Point } from '../../shared/base/great-circle.ts';
import { isArea, type Street } from './street-file.ts';

export interface Route {
  metres: number;
  seconds: number;
  points: Point[];
}

/** The place of a street that is nearest to a point. `metres` is its distance from the point. */
export interface Snapped {
  at: Point;
  metres: number;
  name: string;
  piece: Piece;
  /** The share of the piece before the place. */
  share: number;
}

/** A straight piece of a street. */
interface Piece {
  street: Street;
  from: Point;
  to: Point;
}

/** The time (s) and the length of a way from one place to another one. */
type Leg = { seconds: number; metres: number };

const kmhOf: Record<string, number> = {
  motorway: 90,
  trunk: 70,
  primary: 60,
  secondary: 50,
  tertiary: 45,
  unclassified: 40,
  residential: 30,
  service: 20,
  living_street: 15,
  road: 30,
};
const fastestKmh = 100;
/** The time that a car loses where three or more streets meet at grade. */
const junctionSeconds = 4;
const metresPerDegree = 111_195;

/**
 * Routes by car over streets. `route` returns undefined if no way leads from one place to the other. The streets must
 * be connected at equal points of their shapes.
 */
export function createRoadNetwork(streets: readonly Street[]) {
  const pieces = streets
    .filter((street) => !isArea(street))
    .flatMap((street) =>
      street.shape.slice(1).map((to, index): Piece => ({ street, from: street.shape[index] as Point, to })),
    );
  const graph = createGraph<Point, Leg>();
  const waits = waitsAt(pieces);
  for (const { street, from, to } of pieces) {
    for (const point of [from, to]) graph.addNode(nameOf(point), point);
    const metres = metresBetween(from, to);
    const seconds = (metres / kmhFor(street)) * 3.6;
    const link = (start: Point, end: Point) =>
      graph.addLink(nameOf(start), nameOf(end), { metres, seconds: seconds + (waits.get(nameOf(end)) ?? 0) });
    link(from, to);
    if (!street.isOneWay) link(to, from);
  }
  const finder = nba(graph, {
    oriented: true,
    distance: (_from, _to, link) => link.data.seconds,
    heuristic: (from, to) => (metresBetween(from.data, to.data) / fastestKmh) * 3.6,
  });

  /** Adds a place on a piece to the graph, with the ways to it or from it. */
  function addPlace(id: NodeId, { at, piece, share }: Snapped, isStart: boolean): void {
    graph.addNode(id, at);
    const ways = [{ point: piece.to, part: isStart ? 1 - share : share, start: piece.from }];
    ways.push({ point: piece.from, part: isStart ? share : 1 - share, start: piece.to });
    for (const { point, start, part } of ways.slice(0, piece.street.isOneWay ? 1 : 2)) {
      const metres = metresBetween(piece.from, piece.to) * part;
      const leg = { metres, seconds: (metres / kmhFor(piece.street)) * 3.6 };
      if (isStart) graph.addLink(id, nameOf(point), leg);
      else graph.addLink(nameOf(start), id, leg);
    }
  }

  return {
    /** The nearest place on a street. */
    snap: (point: Point): Snapped => nearest(pieces, point),
    route(from: Snapped, to: Snapped): Route | undefined {
      addPlace('start', from, true);
      addPlace('end', to, false);
      const canStay = from.piece === to.piece && (to.share >= from.share || !from.piece.street.isOneWay);
      const metres = metresBetween(from.at, to.at);
      if (canStay) graph.addLink('start', 'end', { metres, seconds: (metres / kmhFor(from.piece.street)) * 3.6 });
      const nodes = finder.find('start', 'end').reverse();
      const legs = nodes.slice(1).map((node, index) => graph.getLink(nodes[index]?.id as NodeId, node.id)?.data);
      graph.removeNode('start');
      graph.removeNode('end');
      if (nodes.length === 0) return undefined;
      const sum = (field: keyof Leg) => legs.reduce((total, leg) => total + (leg?.[field] ?? 0), 0);
      return { metres: sum('metres'), seconds: sum('seconds'), points: nodes.map(({ data }) => data) };
    },
  };
}

export type RoadNetwork = ReturnType<typeof createRoadNetwork>;

const nameOf = ({ lat, lng }: Point) => `${lat},${lng}`;
const metresBetween = (from: Point, to: Point) => haversineKm(from, to) * 1_000;

/** 9 tenths of the speed limit, or the usual speed of the class, which is lower on links. */
function kmhFor({ kind, limit }: Street): number {
  const usual = kmhOf[kind] ?? (kmhOf[kind.replace('_link', '')] ?? 30) * 0.7;
  return limit === undefined ? usual : limit * 0.9;
}

/** The wait (s) at each point where at least three streets meet, unless only motorways and links meet there. */
function waitsAt(pieces: readonly Piece[]): Map<string, number> {
  const neighbours = new Map<string, Set<string>>();
  const atGrade = new Set<string>();
  for (const { street, from, to } of pieces) {
    for (const [point, other] of [
      [nameOf(from), nameOf(to)],
      [nameOf(to), nameOf(from)],
    ] as const) {
      neighbours.set(point, (neighbours.get(point) ?? new Set()).add(other));
      if (!/motorway|trunk|_link|service/.test(street.kind)) atGrade.add(point);
    }
  }
  const junctions = [...neighbours].filter(([point, { size }]) => size > 2 && atGrade.has(point));
  return new Map(junctions.map(([point]) => [point, junctionSeconds]));
}

/** Compares all pieces on a flat map around the point, which takes about a millisecond. */
function nearest(pieces: readonly Piece[], point: Point): Snapped {
  const metresPerLng = metresPerDegree * Math.cos((point.lat * Math.PI) / 180);
  let best = { squared: Number.POSITIVE_INFINITY, share: 0, piece: pieces[0] as Piece };
  for (const piece of pieces) {
    const x = (piece.from.lng - point.lng) * metresPerLng;
    const y = (piece.from.lat - point.lat) * metresPerDegree;
    const dx = (piece.to.lng - piece.from.lng) * metresPerLng;
    const dy = (piece.to.lat - piece.from.lat) * metresPerDegree;
    const share = Math.min(1, Math.max(0, -(x * dx + y * dy) / (dx * dx + dy * dy)));
    const squared = (x + dx * share) ** 2 + (y + dy * share) ** 2;
    if (squared < best.squared) best = { squared, share, piece };
  }
  const { piece, share, squared } = best;
  const between = (start: number, end: number) => start + (end - start) * share;
  const at = { lat: between(piece.from.lat, piece.to.lat), lng: between(piece.from.lng, piece.to.lng) };
  return { at, metres: Math.sqrt(squared), name: piece.street.name, piece, share };
}
