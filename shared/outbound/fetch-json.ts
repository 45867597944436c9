import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';

/** Bounds the connections and name lookups that a slow server can hold up. Further requests wait for their turn. */
const limits = { maxSockets: 8 };
const clients = {
  'http:': { get: http.get, agent: new http.Agent(limits) },
  'https:': { get: https.get, agent: new https.Agent(limits) },
};

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
 * at most `maxBytes` and waits at most `timeoutMs` in total. Throws FetchError, whose text contains neither the address
 * nor the answer.
 */
export async function fetchJson(url: URL, { timeoutMs, maxBytes }: { timeoutMs: number; maxBytes: number }) {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const body = await readAnswer(await answerOf(url, signal), maxBytes);
    return JSON.parse(body) as unknown;
  } catch (error) {
    if (error instanceof FetchError) throw error;
    if (signal.aborted) throw new FetchError('timeout');
    throw new FetchError(error instanceof SyntaxError ? 'not_json' : ((error as { code?: string }).code ?? 'unknown'));
  }
}

function answerOf(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
  const { get, agent } = clients[url.protocol as keyof typeof clients];
  const headers = { Accept: 'application/json', 'User-Agent': 'RidePartner-Desk/1 (address search)' };
  return new Promise((resolve, reject) => {
    get(url, { agent, headers, signal }, resolve).on('error', reject);
  });
}

async function readAnswer(answer: IncomingMessage, maxBytes: number): Promise<string> {
  try {
    if (answer.statusCode !== 200) throw new FetchError(`status_${answer.statusCode}`);
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
