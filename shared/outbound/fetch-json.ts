import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';

const makeClients = (statuses: readonly number[], options: http.AgentOptions) => ({
  statuses,
  'http:': { get: http.get, agent: new http.Agent(options) },
  'https:': { get: https.get, agent: new https.Agent(options) },
});

/** The servers that the operator sets, with the statuses of answers. */
const clients = {
  // Bounds the connections and name lookups that a slow server can hold up. Further requests wait for their turn.
  'address search': makeClients([200], { maxSockets: 8 }),
  // With 400, a routing server explains in JSON why there is no route. A pool bounds the requests. Kept connections save most of a request's cost; OSRM closes them after 5 s of silence.
  routes: makeClients([200, 400], { keepAlive: true, timeout: 4_000 }),
};

interface FetchOptions {
  /** Named in the User-Agent. */
  purpose: keyof typeof clients;
  timeoutMs: number;
  maxBytes: number;
}

/** The reason why a server gave no usable answer: `status_404`, `too_long`, `not_json`, or a network error's code. */
export class FetchError extends Error {
  override name = 'FetchError';
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/**
 * Reads JSON from a server whose address the operator has set, so the address may be private. Follows no redirect, reads
 * at most `maxBytes` and waits at most `timeoutMs` in total. Throws FetchError, whose text contains
 * neither the address nor the answer.
 */
export async function fetchJson(url: URL, options: FetchOptions): Promise<unknown> {
  const signal = AbortSignal.timeout(options.timeoutMs);
  try {
    const body = await readAnswer(await answerOf(url, options, signal), options);
    return JSON.parse(body) as unknown;
  } catch (error) {
    if (error instanceof FetchError) throw error;
    if (signal.aborted) throw new FetchError('timeout');
    throw new FetchError(error instanceof SyntaxError ? 'not_json' : ((error as { code?: string }).code ?? 'unknown'));
  }
}

function answerOf(url: URL, options: FetchOptions, signal: AbortSignal): Promise<IncomingMessage> {
  const { purpose } = options;
  const { get, agent } = clients[purpose][url.protocol as 'http:' | 'https:'];
  const headers = { Accept: 'application/json', 'User-Agent': `RidePartner/1 (${purpose})` };
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, headers, signal }, resolve);
    request.on('error', (error: NodeJS.ErrnoException) => {
      // The server closed a kept connection while the request was on its way.
      const wasClosed = request.reusedSocket && error.code === 'ECONNRESET' && !signal.aborted;
      if (wasClosed) answerOf(url, options, signal).then(resolve, reject);
      else reject(error);
    });
  });
}

async function readAnswer(answer: IncomingMessage, { purpose, maxBytes }: FetchOptions): Promise<string> {
  try {
    const { statusCode = 0 } = answer;
    if (!clients[purpose].statuses.includes(statusCode)) throw new FetchError(`status_${statusCode}`);
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of answer) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new FetchError('too_long');
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    answer.destroy();
  }
}
