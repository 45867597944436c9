import http from 'node:http';

export interface Asked {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  url: string;
  key: string;
  headers?: Record<string, string>;
  body?: unknown;
}

export interface Answered {
  /** 0 where there was no answer. */
  status: number;
  /** The answer's body; undefined where it was no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: the checker says what it expects of an answer.
  body?: any;
  text: string;
  /** Unix time in ms. */
  at: number;
  ms: number;
}

/** One request of a partner and its answer: the partner's own journal, which is evidence. */
export interface Call extends Answered {
  operation: 'create' | 'retrieve' | 'offers' | 'accept' | 'cancel' | 'raise' | 'step';
  /** The creation that it belongs to; the ride's notes have it. */
  tag: string;
  keyId: string;
  /** The process that was asked. */
  api: string;
  rideId?: string;
  offerId?: string;
  /** Of a raise: the fare that is asked for. */
  fare?: number;
  /** Of a step: which one. */
  step?: ManualStep;
}

export type ManualStep = 'offer' | 'withdraw' | 'arrive' | 'start' | 'complete' | 'cancel' | 'expire';

/** What a call sends besides its path. */
export interface More {
  headers?: Record<string, string>;
  body?: unknown;
}

/** The longest time a client waits. The checker reports an answer that took far less. */
const patienceMs = 20_000;

/** Makes one request of a partner or a driver. Never rejects: no answer is evidence, too. */
export async function request(agent: http.Agent, asked: Asked): Promise<Answered> {
  const at = Date.now();
  const answer = await answerTo(agent, asked);
  return { ...answer, at, ms: Date.now() - at };
}

function answerTo(
  agent: http.Agent,
  { method, url, key, headers, body }: Asked,
): Promise<Pick<Answered, 'status' | 'body' | 'text'>> {
  const content = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve) => {
    const without = (error: Error) => resolve({ status: 0, text: error.message });
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
          resolve({ status: response.statusCode ?? 0, text, body: parsed(text) });
        } catch (error) {
          without(error as Error);
        }
      },
    );
    sent.setTimeout(patienceMs, () => sent.destroy(new Error(`no answer within ${patienceMs} ms`)));
    sent.on('error', without);
    sent.end(content);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
