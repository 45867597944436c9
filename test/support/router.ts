import type { RequestListener } from 'node:http';
import type { Point } from '../../shared/base/great-circle.ts';
import { encodeLine, lengthKm, pathAlong } from '../../shared/rides/path.ts';
import { type OperatorServer, useOperatorServer } from './operator-server.ts';

/** A road from one point to another, around one corner, in pieces of about 100 m. */
export function cornerRoad(from: Point, to: Point, pieces = 20): Point[] {
  const corner = { lat: from.lat, lng: to.lng };
  const along = (a: Point, b: Point) =>
    Array.from({ length: pieces }, (_, index) => ({
      lat: a.lat + ((b.lat - a.lat) * index) / pieces,
      lng: a.lng + ((b.lng - a.lng) * index) / pieces,
    }));
  return [...along(from, corner), ...along(corner, to), to];
}

/** The two points in the address of a request to a routing server. */
export function pointsIn(path: string): [Point, Point] {
  const points = (path.split('?')[0] ?? '').split('/').at(-1)?.split(';') ?? [];
  return points.map((text) => {
    const [lng = 0, lat = 0] = text.split(',').map(Number);
    return { lat, lng };
  }) as [Point, Point];
}

/** The answer of a routing server with this road, driven at 40 km/h. */
export function routeAnswer(road: readonly Point[], changes: object = {}) {
  const km = lengthKm(pathAlong(road));
  const route = { distance: km * 1_000, duration: (km / 40) * 3_600, geometry: encodeLine(road), ...changes };
  const ends = [road[0], road.at(-1)].map((point) => ({ location: [point?.lng, point?.lat], distance: 3 }));
  return { code: 'Ok', routes: [route], waypoints: ends };
}

/** Answers with a road around one corner. */
export const answerWithRoad: RequestListener = (request, response) => {
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(routeAnswer(cornerRoad(...pointsIn(request.url ?? '')))));
};

/** Answers with JSON. */
export const answerJson =
  (answer: unknown, status = 200): RequestListener =>
  (_, response) =>
    void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));

/** Starts a routing server before the tests of the surrounding describe. */
export const useRouter = (): OperatorServer => useOperatorServer(answerWithRoad);
