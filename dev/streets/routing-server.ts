import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Point } from '../../shared/base/great-circle.ts';
import { encodeLine } from '../../shared/rides/path.ts';
import { createRoadNetwork, type RoadNetwork, type Snapped } from './road-network.ts';
import { readStreets } from './street-file.ts';

export interface RoutingServer {
  /** The address for ROUTING_URL. */
  url: string;
  stop(): Promise<void>;
}

/** Starts a routing server for the streets of the city, on a free port of 127.0.0.1. */
export async function startRoutingServer(): Promise<RoutingServer> {
  const network = createRoadNetwork(await readStreets());
  const server = http.createServer((request, response) => {
    const body = answer(network, request.url ?? '');
    response.writeHead(body.code === 'Ok' ? 200 : 400, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/route/v1/driving`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * An answer of OSRM's HTTP API to `/route/v1/driving/LNG,LAT;LNG,LAT`, with the options `radiuses`, `overview=false` and
 * `geometries` (`polyline` or `polyline6`). Other options are ignored: the answer has the whole line, and no steps.
 */
function answer(network: RoadNetwork, url: string) {
  const [path = '', query] = url.split('?');
  const options = new URLSearchParams(query);
  const number = '(-?\\d+(?:\\.\\d+)?)';
  const match = new RegExp(`^/route/v1/driving/${number},${number};${number},${number}$`).exec(path);
  if (!match) return problem('InvalidUrl', 'the path must be /route/v1/driving/LNG,LAT;LNG,LAT');
  const [fromLng, fromLat, toLng, toLat] = match.slice(1).map(Number) as [number, number, number, number];
  const radiuses = readRadiuses(options.get('radiuses'));
  const geometries = options.get('geometries') ?? 'polyline';
  if (!radiuses) return problem('InvalidOptions', 'radiuses must be two numbers of metres, or unlimited');
  if (!/^polyline6?$/.test(geometries)) return problem('InvalidOptions', 'geometries must be polyline or polyline6');
  const ends = [network.snap({ lat: fromLat, lng: fromLng }), network.snap({ lat: toLat, lng: toLng })] as const;
  const far = ends.findIndex(({ metres }, index) => metres > (radiuses[index] as number));
  if (far !== -1) return problem('NoSegment', `Could not find a matching segment for coordinate ${far}`);
  const route = network.route(...ends);
  if (!route) return problem('NoRoute', 'Impossible route between points');
  const distance = tenths(route.metres);
  const duration = tenths(route.seconds);
  const geometry = encodeLine(route.points, geometries === 'polyline6' ? 6 : 5);
  return {
    code: 'Ok',
    waypoints: ends.map(waypoint),
    routes: [
      {
        ...(options.get('overview') !== 'false' && { geometry }),
        distance,
        duration,
        weight: duration,
        weight_name: 'duration',
        legs: [{ distance, duration, weight: duration, summary: '', steps: [] }],
      },
    ],
  };
}

const problem = (code: string, message: string) => ({ code, message });

/** Two radiuses in metres, without a limit by default; undefined if the text is invalid. */
function readRadiuses(text: string | null): number[] | undefined {
  const radiuses = (text ?? ';').split(';').map((part) => (/^(unlimited)?$/.test(part) ? Infinity : Number(part)));
  return radiuses.length === 2 && radiuses.every((radius) => radius > 0) ? radiuses : undefined;
}

const waypoint = ({ at, metres, name }: Snapped) => ({ location: toPosition(at), name, distance: tenths(metres) });

const toPosition = ({ lat, lng }: Point) => [lng, lat].map((degrees) => Number(degrees.toFixed(6)));

const tenths = (value: number) => Math.round(value * 10) / 10;
