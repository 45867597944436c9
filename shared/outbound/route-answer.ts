import { haversineKm, type Point } from '../base/great-circle.ts';
import { decodeLine, encodeLine, lengthKm, pathAlong, simplified } from '../rides/path.ts';
import type { Route } from '../rides/ride-types.ts';

/** Reads the answers of OSRM's route service. Pure. */

export type Road = NonNullable<Route['road']>;

/** The server knows no way between the points, or its way is implausible. It works, so this is an answer. */
export type Refusal = 'no_route' | 'implausible';

/** Thrown for JSON that is no answer of a routing server. */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError';
}

/** The radius of the query, in which servers search the nearest road. Some answer `Ok` from farther away. */
export const maxSnapKm = 0.5;
const maxKmPerHour = 130;
/** A way is implausible if it is longer than this multiple of the great circle. Near a river, a short way may be. */
const maxDetour = 5;
const alwaysPlausibleKm = 15;
/** The line, the distance and the great circle may differ by this share and by the way from a point to its road. */
const tolerance = 0.1;
const maxLineBytes = 4_096;
/** The first accuracy of a stored line. A line that is still too long gets half of it, and so on. */
const accuracyM = 3;

/** The road in a server's answer, or the reason for which there is none. Throws NoAnswerError. */
export function readRoute(answer: unknown, from: Point, to: Point): Road | Refusal {
  const { code, routes, waypoints } = (answer ?? {}) as Record<string, unknown>;
  if (code === 'NoRoute' || code === 'NoSegment') return 'no_route';
  const [route] = code === 'Ok' && Array.isArray(routes) ? routes : [];
  const { distance, duration, geometry } = (route ?? {}) as Record<string, unknown>;
  const points = typeof geometry === 'string' ? decodeLine(geometry) : null;
  const [first, last] = [points?.[0], points?.at(-1)];
  if (!points || !first || !last || !isLength(distance) || !isLength(duration)) throw new NoAnswerError();
  const snaps = Array.isArray(waypoints)
    ? waypoints.map((each) => (each as { distance?: unknown } | null)?.distance)
    : [];
  const isFar = snaps.some((metres) => !isLength(metres) || metres > maxSnapKm * 1_000);
  const road = { km: distance / 1_000, seconds: duration };
  const gapKm = haversineKm(from, first) + haversineKm(to, last);
  if (isFar || gapKm > 2 * maxSnapKm || !isPlausible(road, points, haversineKm(from, to), gapKm)) return 'implausible';
  return { ...road, line: shortLine(points) };
}

const isLength = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;

function isPlausible({ km, seconds }: Omit<Road, 'line'>, points: readonly Point[], circleKm: number, gapKm: number) {
  const lineKm = lengthKm(pathAlong(points));
  const slackKm = gapKm + 0.05;
  return (
    km <= (seconds / 3_600) * maxKmPerHour + slackKm &&
    km * (1 + tolerance) + slackKm >= circleKm &&
    km <= Math.max(alwaysPlausibleKm, circleKm * maxDetour) &&
    Math.abs(lineKm - km) <= km * tolerance + slackKm
  );
}

/** Above this number of points, a line is thinned out first: its simplification takes up to the square of the points. */
const maxPoints = 4_000;

function shortLine(points: readonly Point[]): string {
  const step = Math.ceil(points.length / maxPoints);
  const thin = points.filter((_, index) => index % step === 0 || index === points.length - 1);
  for (let metres = accuracyM; ; metres *= 2) {
    const line = encodeLine(simplified(thin, metres));
    if (line.length <= maxLineBytes) return line;
  }
}
