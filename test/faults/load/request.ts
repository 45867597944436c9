import { setTimeout } from 'node:timers/promises';
import type { TestScenario } from '../../../shared/rides/ride-types.ts';
import { type HttpClient, httpClient } from '../figures/http-client.ts';

export interface RequestOptions {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  url: string;
  key: string;
  headers?: Record<string, string>;
  body?: object;
}

export interface Answer {
  /** 0 if there was no answer. */
  status: number;
  /** The parsed body; undefined if it was not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: the checker compares the fields that it expects.
  body?: any;
  text: string;
  /** The answer repeats that of an earlier creation. */
  isReplay?: true;
  /** Unix time in ms. */
  at: number;
  ms: number;
}

/** One request of a partner and its answer. The partner's journal of these is evidence. */
export interface Call extends Answer {
  operation: 'create' | 'retrieve' | 'offers' | 'accept' | 'cancel' | 'raise' | 'step' | 'resend' | 'tell';
  /** Identifies the creation. It is also in the ride's notes. */
  tag: string;
  keyId: string;
  /** The name of the API process. */
  api: string;
  rideId?: string;
  offerId?: string;
  /** The requested fare of a raise. */
  fare?: number;
  /** The test scenario of a creation. */
  scenario?: TestScenario;
  /** The name of a manual step. */
  step?: ManualStep;
  /** The PIN that a start sent. */
  pin?: string;
  /** The text of a message to the driver. */
  words?: string;
}

export type ManualStep = 'open' | 'offer' | 'withdraw' | 'arrive' | 'start' | 'complete' | 'cancel' | 'expire';

/** The headers and body of a call. */
export interface More {
  headers?: Record<string, string>;
  body?: object;
}

/** The connections of some partners or drivers, by the address of an API process. */
export type Connections = Map<string, HttpClient>;

export function closeAll(connections: Connections): void {
  for (const connection of connections.values()) connection.close();
}

/** Makes one request of a partner or a driver. Never rejects, because a missing answer is evidence too. */
export async function request(connections: Connections, asked: RequestOptions): Promise<Answer> {
  const { method, url, key, headers, body } = asked;
  const { origin, pathname, search } = new URL(url);
  const client = connections.get(origin) ?? httpClient(origin);
  connections.set(origin, client);
  const at = Date.now();
  const answer = await client.request({ method, path: pathname + search, key, headers, body }).then(
    ({ status, headers, text }) => {
      const isReplay = headers['x-service-replayed'] === 'true';
      return { status, text, body: parseJson(text), ...(isReplay && { isReplay }) };
    },
    (error: Error) => ({ status: 0, text: error.message }),
  );
  return { ...answer, at, ms: Date.now() - at };
}

/** Repeats a change that this process makes itself, while MongoDB is down. */
export async function untilDone<T>(change: () => Promise<T>): Promise<T> {
  for (let tries = 0; tries < 600; tries++) {
    try {
      return await change();
    } catch {
      await setTimeout(200);
    }
  }
  throw new Error('MongoDB did not return within 120 s');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
