import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';

/** Each request opens a connection of its own, so that a server that closes kept ones cannot make its outcome unclear. */
const clients = { 'http:': http.request, 'https:': https.request };

/** No usable answer. The message contains neither the address nor the answer. */
export class PostError extends Error {
  override name = 'PostError';
  /** `timeout`, `too_long`, or a network error's code. */
  readonly code: string;
  /** False if nothing was written, because no connection was opened. */
  readonly maybeReceived: boolean;

  constructor(code: string, maybeReceived: boolean) {
    super(code);
    this.code = code;
    this.maybeReceived = maybeReceived;
  }
}

export interface FormAnswer {
  status: number;
  /** The parsed JSON of the answer, of any status; null if it is none. */
  body: unknown;
}

/**
 * Posts a form to a server whose address the operator has set, so the address may be private, with the user and password
 * of the URL. Follows no redirect, reads at most 64 kB and waits at most `timeoutMs` in total. Throws PostError.
 */
export async function postForm(
  url: URL,
  form: URLSearchParams,
  { headers, timeoutMs }: { headers: Record<string, string>; timeoutMs: number },
): Promise<FormAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  let maybeReceived = false;
  const onConnect = () => {
    maybeReceived = true;
  };
  try {
    const answer = await answerTo(url, form.toString(), headers, signal, onConnect);
    return { status: answer.statusCode ?? 0, body: parsed(await read(answer)) };
  } catch (error) {
    const code = error instanceof PostError ? error.code : (error as { code?: string }).code;
    throw new PostError(signal.aborted ? 'timeout' : (code ?? 'unknown'), maybeReceived);
  }
}

function answerTo(
  url: URL,
  body: string,
  headers: Record<string, string>,
  signal: AbortSignal,
  onConnect: () => void,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const open = clients[url.protocol as keyof typeof clients];
    const { hostname, port, pathname, search } = url;
    const request: ClientRequest = open({
      ...{ method: 'POST', port, path: pathname + search, agent: false, signal },
      hostname: hostname.replace(/^\[|\]$/g, ''),
      auth: `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`,
      headers: {
        ...headers,
        'Content-Type': 'application/x-www-form-urlencoded',
        'Content-Length': Buffer.byteLength(body),
        Accept: 'application/json',
        'User-Agent': 'RidePartner-Messages/1',
      },
    });
    request.once('socket', (socket) => socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', onConnect));
    request.once('response', resolve).once('error', reject).end(body);
  });
}

const maxBytes = 65_536;

async function read(answer: IncomingMessage): Promise<string> {
  try {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of answer) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new PostError('too_long', true);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    answer.destroy();
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
