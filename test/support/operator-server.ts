import { once } from 'node:events';
import http, { type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { useStarted } from './use-started.ts';

/** A server that an operator could set. */
export type OperatorServer = Awaited<ReturnType<typeof startOperatorServer>>;

/** The answers of Nominatim (`/search`) and Photon (`/api`) for one street. */
export const nominatimAnswer = [
  { lat: '40.7506', lon: '-73.9935', display_name: 'Penn Station, 8th Avenue, New York, 10001, United States' },
  { lat: 'x', lon: '1', display_name: 'Not a place' },
  { lat: '40.7', lon: '-74.1', display_name: 'Newark Penn Station' },
];
export const photonAnswer = {
  type: 'FeatureCollection',
  features: [
    {
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [-73.9935, 40.7506] },
      properties: { name: 'Penn Station', housenumber: '1', street: '8th Avenue', postcode: '10001', city: 'New York' },
    },
    { type: 'Feature', geometry: null, properties: { name: 'Not a place' } },
  ],
};

/** Answers in the form of the path, as a real server of either kind. */
export const answerByPath: RequestListener = (request, response) => {
  const isPhoton = request.url?.startsWith('/api');
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(isPhoton ? photonAnswer : nominatimAnswer));
};

/** Starts a geocoder before the tests of the surrounding describe. It answers as a real one until a test replaces that. */
export const useGeocoder = (): OperatorServer => useOperatorServer(answerByPath);

/** Starts a server with this first answer before the tests of the surrounding describe. */
export const useOperatorServer = (first: RequestListener): OperatorServer =>
  useStarted(() => startOperatorServer(first));

export async function startOperatorServer(first: RequestListener) {
  const asked: { url: URL; userAgent?: string }[] = [];
  let answer = first;
  const server = http.createServer((request, response) => {
    const url = new URL(request.url ?? '', `http://${request.headers.host}`);
    asked.push({ url, userAgent: request.headers['user-agent'] });
    answer(request, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The requests, in the order of their arrival. */
    asked,
    /** Replaces the answer to all later requests. */
    answerWith(next: RequestListener) {
      answer = next;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
