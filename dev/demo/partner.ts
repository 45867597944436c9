import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { verifySignature } from '../../shared/webhooks/sign.ts';

/** A ride in the API's format: only the fields that the demo reads. */
export type Ride = {
  rideId: string;
  status: string;
  fare: number;
  agreedPrice?: number;
  distanceKm: number;
  trackUrl: string;
  driver?: { name: string };
  liveLocation?: { lat: number; lng: number };
};

export type ListedOffer = {
  offerId: string;
  price: number;
  etaMinutes: number;
  driver: { name: string; plate: string };
};

/** A partner's API client, with the operations that the demo uses. */
export type Partner = {
  createRide(ride: object): Promise<Ride>;
  retrieveRide(rideId: string): Promise<Ride>;
  listOffers(rideId: string): Promise<{ offers: ListedOffer[] }>;
  acceptOffer(rideId: string, offerId: string): Promise<{ status: string }>;
};

export function partnerWith(key: string, baseUrl: string): Partner {
  /** Rejects with the API's error text if the answer is an error. */
  async function call<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(baseUrl + path, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    });
    const answer = (await response.json()) as T & { error?: string };
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${answer.error}`);
    return answer;
  }
  return {
    createRide: (ride) => call('POST', '/rides', ride),
    retrieveRide: (rideId) => call('GET', `/rides/${rideId}`),
    listOffers: (rideId) => call('GET', `/rides/${rideId}/offers`),
    acceptOffer: (rideId, offerId) => call('POST', `/rides/${rideId}/accept`, { offerId }),
  };
}

/** An event as the receiver got it. Do not trust the body unless `isVerified` is true. */
export type ReceivedEvent = { receivedAt: number; isVerified: boolean; sequence: number; body: EventBody };

/** The fields of an event's body that the demo reads. */
export type EventBody = {
  event: string;
  rideId: string;
  status?: string;
  at: number;
  offer?: { price: number; etaMinutes: number; driver: { name: string } };
  driver?: { name: string; vehicle: string; plate: string } | null;
  fare?: number;
  agreedPrice?: number;
  testMode?: boolean;
};

export type Receiver = {
  origin: string;
  /** The key's signing secret. Set later, because creating the key requires the receiver's address. */
  secret: string;
  /** Resolves with the next event, in order of arrival. Rejects if none arrives in time. */
  next(timeoutMs: number): Promise<ReceivedEvent>;
  /** The number of events that have arrived and that `next` has not returned yet. */
  waiting(): number;
  stop(): void;
};

/** A partner's webhook server on this machine. Like every receiver should, it answers before it handles the event. */
export async function startReceiver(): Promise<Receiver> {
  const events: ReceivedEvent[] = [];
  const server = http.createServer(async (request, response) => {
    events.push(readEvent(receiver.secret, request.headers, await buffer(request)));
    response.writeHead(204).end();
    server.emit('received');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const receiver: Receiver = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    secret: '',
    waiting: () => events.length,
    async next(timeoutMs) {
      if (events.length === 0) {
        await once(server, 'received', { signal: AbortSignal.timeout(timeoutMs) }).catch(() => {
          throw new Error(`no event arrived within ${timeoutMs / 1000} s`);
        });
      }
      return events.shift() as ReceivedEvent;
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
  return receiver;
}

function readEvent(secret: string, headers: http.IncomingHttpHeaders, rawBody: Buffer): ReceivedEvent {
  const signature = String(headers['x-service-signature']);
  const now = Date.now();
  return {
    receivedAt: now,
    isVerified: verifySignature(secret, signature, rawBody, Math.floor(now / 1000)),
    sequence: Number(headers['x-service-sequence']),
    body: JSON.parse(rawBody.toString()),
  };
}
