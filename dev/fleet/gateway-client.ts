import { setTimeout as sleep } from 'node:timers/promises';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { Point } from '../../shared/base/great-circle.ts';

/** A ride that a driver may bid on: only the fields that the fleet reads. */
export interface OpenRequest {
  rideId: string;
  fare: number;
  pickupKm: number;
  offer?: { offerId: string };
}

/** The ride that a driver is assigned to. */
export interface OwnRide {
  rideId: string;
  status: 'driver_arriving' | 'arrived' | 'in_progress';
  pickup: Point;
  destination: Point;
}

type DriverNews =
  | { event: 'requests'; data: { requests: OpenRequest[] } }
  | { event: 'ride'; data: { ride: OwnRide | null } };

export type Step = 'arrive' | 'start' | 'complete' | 'cancel';

/** An error response. A 409 is normal: another driver was faster, or the ride is gone. */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly status: number;
  readonly code: string;
  constructor({ status, headers }: Response, message: string) {
    super(message);
    this.status = status;
    this.code = headers.get('x-service-error') ?? '';
  }
}

const requestTimeoutMs = 10_000;
/** A call that may be repeated is made at most this often. */
const tries = 10;
const retryMs = 1_000;

/** One driver's client of the drivers' API. Calls reject with Refusal, or with the error of the connection. */
export interface GatewayClient {
  goOnline(position: Point): Promise<void>;
  goOffline(): Promise<void>;
  report(position: Point & { heading: number }): Promise<void>;
  offer(rideId: string, terms: { price: number; etaMinutes: number }): Promise<string>;
  withdraw(rideId: string, offerId: string): Promise<void>;
  takeStep(rideId: string, step: Step): Promise<void>;
  ride(): Promise<OwnRide | null>;
  /** The events of the stream, until it ends or `signal` aborts. */
  stream(signal: AbortSignal): AsyncGenerator<DriverNews>;
}

export function gatewayClient(serviceUrl: string, key: string): GatewayClient {
  const base = `${serviceUrl.replace(/\/+$/, '')}/drivers/v1`;
  const headers = { Authorization: `Bearer ${key}` };

  async function ask(method: string, path: string, signal: AbortSignal, body?: object): Promise<Response> {
    const response = await fetch(base + path, {
      method,
      headers: body ? { ...headers, 'Content-Type': 'application/json' } : headers,
      body: body && JSON.stringify(body),
      signal,
    });
    if (response.ok) return response;
    const { error } = (await response.json().catch(() => ({}))) as { error?: string };
    throw new Refusal(response, `${method} ${path} returned ${response.status}: ${error}`);
  }
  async function call<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await ask(method, path, AbortSignal.timeout(requestTimeoutMs), body);
    const text = await response.text();
    return (text ? JSON.parse(text) : undefined) as T;
  }
  /** Repeats a call while the service answers 503, as it does on a busy machine. */
  async function repeated<T>(...args: Parameters<typeof call>): Promise<T> {
    for (let left = tries - 1; ; left--) {
      try {
        return await call<T>(...args);
      } catch (error) {
        if (left === 0 || !(error instanceof Refusal) || error.status !== 503) throw error;
        await sleep(retryMs);
      }
    }
  }

  return {
    goOnline: ({ lat, lng }) => repeated('POST', '/me/online', { lat, lng }),
    goOffline: () => repeated('POST', '/me/offline'),
    report: ({ lat, lng, heading }) => call('PUT', '/me/position', { lat, lng, heading }),
    offer: async (rideId, terms) =>
      (await call<{ offerId: string }>('POST', `/requests/${rideId}/offers`, terms)).offerId,
    withdraw: (rideId, offerId) => call('DELETE', `/requests/${rideId}/offers/${offerId}`),
    takeStep: (rideId, step) => call('POST', `/ride/${step}`, { rideId }),
    ride: async () => (await call<{ ride: OwnRide | null }>('GET', '/ride')).ride,
    async *stream(signal) {
      const { body } = await ask('GET', '/stream', signal);
      if (!body) return;
      const events = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
      for await (const { event, data } of events) yield { event, data: JSON.parse(data) } as DriverNews;
    },
  };
}
