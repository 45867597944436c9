import type { Context } from '../base/context.ts';
import { describeError } from '../base/errors.ts';
import type { Point } from '../base/great-circle.ts';
import { routeRequests, routingRests } from '../base/metrics.ts';
import { fetchJson } from './fetch-json.ts';
import { type Refusal, type Road, readRoute } from './route-answer.ts';

/** A route through the whole of a large country has about half of this. */
const limits = { purpose: 'routes', timeoutMs: 2_000, maxBytes: 1_000_000 } as const;
/** After this many failures in a row, this process asks nothing for a while. */
const maxFailures = 5;
const restMs = 60_000;

/** The failures in a row of a routing server, and until when it is not asked (monotonic ms). By its settings. */
const states = new WeakMap<Context['config'], { failures: number; restsUntil: number }>();

/** The address of a request: the operator's, with its query. The points have 5 decimals (1 m). */
export function routeUrl(base: string, from: Point, to: Point): URL {
  const url = new URL(base);
  const points = [from, to].map(({ lat, lng }) => `${lng.toFixed(5)},${lat.toFixed(5)}`).join(';');
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${points}`;
  url.search = `${url.search ? `${url.search}&` : '?'}overview=full&geometries=polyline6&radiuses=500;500`;
  return url;
}

/**
 * Asks the operator's routing server for the road between two points. Resolves with null if it gives no usable answer
 * within 2 s, and at once while it rests: for a minute after five failures in a row. Never rejects. Logs failures
 * without the points.
 */
export async function askRoute({ config, log }: Pick<Context, 'config' | 'log'>, from: Point, to: Point) {
  const state = states.get(config) ?? { failures: 0, restsUntil: 0 };
  states.set(config, state);
  if (performance.now() < state.restsUntil) {
    routeRequests.inc({ outcome: 'rests' });
    return null;
  }
  try {
    const found = await fetchRoute(config.secrets.routingUrl, from, to);
    routeRequests.inc({ outcome: typeof found === 'string' ? found : 'road' });
    state.failures = 0;
    routingRests.set(0);
    const { durationFactor = 1 } = config.routing ?? {};
    return typeof found === 'string' ? null : { ...found, seconds: found.seconds * durationFactor };
  } catch (error) {
    routeRequests.inc({ outcome: 'failed' });
    // Requests that were in flight when the rest began.
    if (performance.now() < state.restsUntil) return null;
    state.failures += 1;
    log.debug({ error: describeError(error) }, 'no route');
    if (state.failures < maxFailures) return null;
    Object.assign(state, { failures: 0, restsUntil: performance.now() + restMs });
    routingRests.set(1);
    log.warn({ error: describeError(error) }, 'routing rests for a minute after five failures in a row');
    return null;
  }
}

/** Asks a routing server. Throws FetchError, and NoAnswerError for another kind of server. */
export const fetchRoute = async (base: string, from: Point, to: Point): Promise<Road | Refusal> =>
  readRoute(await fetchJson(routeUrl(base, from, to), limits), from, to);
