import http from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { TestScenario } from '../../../shared/rides/ride-types.ts';

export interface RequestOptions {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  url: string;
  key: string;
  headers?: Record<string, string>;
  body?: unknown;
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
  body?: unknown;
}

/** Time limit of the client. The checker's own limit is much shorter. */
const patienceMs = 20_000;

/**
 * An agent that keeps connections open. It closes idle ones before the API does, which is after 30 s: a request that is
 * sent in the moment in which the API closes its connection gets no answer.
 */
export const newAgent = (): http.Agent => new http.Agent({ keepAlive: true, timeout: patienceMs });

/** Makes one request of a partner or a driver. Never rejects, because a missing answer is evidence too. */
export async function request(agent: http.Agent, asked: RequestOptions): Promise<Answer> {
  const at = Date.now();
  const answer = await answerTo(agent, asked);
  return { ...answer, at, ms: Date.now() - at };
}

function answerTo(
  agent: http.Agent,
  { method, url, key, headers, body }: RequestOptions,
): Promise<Pick<Answer, 'status' | 'body' | 'text' | 'isReplay'>> {
  const content = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve) => {
    const fail = (error: Error) => resolve({ status: 0, text: error.message });
    const sent = http.request(
      url,
      {
        method,
        agent,
        headers: {
          authorization: `Bearer ${key}`,
          ...(content && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
          ...headers,
        },
      },
      async (response) => {
        try {
          let text = '';
          for await (const chunk of response.setEncoding('utf8')) text += chunk;
          const isReplay = response.headers['x-service-replayed'] === 'true';
          resolve({ status: response.statusCode ?? 0, text, body: parseJson(text), ...(isReplay && { isReplay }) });
        } catch (error) {
          fail(error as Error);
        }
      },
    );
    sent.setTimeout(patienceMs, () => sent.destroy(new Error(`no answer within ${patienceMs} ms`)));
    sent.on('error', fail);
    sent.end(content);
  });
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
