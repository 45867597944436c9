import net from 'node:net';

export interface HttpRequest {
  method?: string;
  path: string;
  key?: string;
  headers?: Record<string, string>;
  /** An object is sent as JSON, a text as it is. */
  body?: object | string;
}

export interface HttpAnswer {
  status: number;
  /** The status line and the headers, unchanged. */
  head: string;
  text: string;
  /** When the request was written to the socket, and when the answer was complete (`performance.now()`). */
  startedAt: number;
  endedAt: number;
}

/** The request was sent, but no answer arrived. */
export class NoAnswer extends Error {
  override name = 'NoAnswer';
}

const longestAnswerMs = 20_000;
/**
 * The service closes connections that are idle for 14 s. A connection idle for longer than this may be closing, so it
 * is not reused.
 */
const longestIdleMs = 5_000;

/** The bytes of a request, as a plain client writes them. */
export function requestText({ method = 'GET', path, key, headers = {}, body }: HttpRequest): string {
  const text = typeof body === 'object' ? JSON.stringify(body) : body;
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: rides.example'];
  if (key) lines.push(`Authorization: Bearer ${key}`);
  if (text !== undefined) lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`);
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  return `${lines.join('\r\n')}\r\n\r\n${text ?? ''}`;
}

/** One keep-alive connection, for one request at a time, or a pool of them. It opens, or reopens, when it is used. */
export interface HttpConnection {
  /**
   * Rejects with NoAnswer if the request was sent but the connection ended before the answer, and with the socket's own
   * error if no connection could be opened.
   */
  send(bytes: string | Buffer, options?: { isHead?: boolean }): Promise<HttpAnswer>;
  request(request: HttpRequest): Promise<HttpAnswer>;
  close(): void;
}

export function httpConnection(url: string): HttpConnection {
  const { hostname, port } = new URL(url);
  let socket: net.Socket | undefined;
  let idleSince = 0;

  async function openSocket(): Promise<net.Socket> {
    const isIdleTooLong = performance.now() - idleSince > longestIdleMs;
    if (socket && !socket.destroyed && socket.writable && !isIdleTooLong) return socket;
    socket?.destroy();
    const fresh = net.connect({ port: Number(port), host: hostname, noDelay: true });
    socket = fresh;
    await new Promise<void>((resolve, reject) => fresh.once('connect', resolve).once('error', reject));
    fresh.on('error', () => {});
    return fresh;
  }

  async function send(bytes: string | Buffer, { isHead = false } = {}): Promise<HttpAnswer> {
    const open = await openSocket();
    const answer = await exchange(open, bytes, isHead);
    idleSince = performance.now();
    if (/^connection: close\r?$/im.test(answer.head)) open.destroy();
    return answer;
  }

  return { send, request: (request) => send(requestText(request)), close: () => void socket?.destroy() };
}

function exchange(socket: net.Socket, bytes: string | Buffer, isHead: boolean): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    let received: Buffer = Buffer.alloc(0);
    const end = (settle: () => void) => {
      clearTimeout(timer);
      socket.off('data', onData).off('close', onClose);
      settle();
    };
    const onClose = () => end(() => reject(new NoAnswer('the connection ended before the answer')));
    const fail = (why: string) => {
      socket.destroy();
      end(() => reject(new NoAnswer(why)));
    };
    const timer = setTimeout(() => fail(`no answer within ${longestAnswerMs / 1_000} s`), longestAnswerMs);
    const onData = (chunk: Buffer) => {
      received = received.length ? Buffer.concat([received, chunk]) : chunk;
      const read = readAnswer(received, isHead);
      if (read === 'more') return;
      if (read === 'wrong') return fail('received bytes that are not one HTTP answer with a length');
      end(() => resolve({ ...read, startedAt, endedAt: performance.now() }));
    };
    socket.on('data', onData).on('close', onClose);
    socket.write(bytes);
  });
}

/**
 * Parses an answer, and skips 1xx answers before it. The bytes must not contain a second answer. All answers of the
 * service except a 204 have a length, so the end is known.
 */
function readAnswer(bytes: Buffer, isHead: boolean): Pick<HttpAnswer, 'status' | 'head' | 'text'> | 'more' | 'wrong' {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return 'more';
  const head = bytes.toString('latin1', 0, headEnd);
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
  if (status >= 100 && status < 200) return readAnswer(bytes.subarray(headEnd + 4), isHead);
  // Node's parser answers a malformed HEAD request with a body and closes the connection.
  if (isHead && /^connection: close\r?$/im.test(head)) return { status, head, text: '' };
  const length = /^content-length: (\d+)\r?$/im.exec(head)?.[1];
  const isBodiless = isHead || status === 204;
  if (!status || (length === undefined && !isBodiless)) return 'wrong';
  const wholeBytes = headEnd + 4 + (isBodiless ? 0 : Number(length));
  if (bytes.length < wholeBytes) return 'more';
  return bytes.length > wholeBytes ? 'wrong' : { status, head, text: bytes.toString('utf8', headEnd + 4) };
}

/**
 * A pool of at most `size` connections to one address. A request uses the most recently freed one, or a new one, or waits
 * for one.
 */
export function httpClient(url: string, size = Number.POSITIVE_INFINITY): HttpConnection {
  const connections: HttpConnection[] = [];
  const free: HttpConnection[] = [];
  const waiting: ((connection: HttpConnection) => void)[] = [];

  function opened(): HttpConnection {
    const connection = httpConnection(url);
    connections.push(connection);
    return connection;
  }
  function next(): HttpConnection | Promise<HttpConnection> {
    const known = free.pop();
    if (known) return known;
    return connections.length < size ? opened() : new Promise((resolve) => waiting.push(resolve));
  }

  async function send(bytes: string | Buffer, options?: { isHead?: boolean }): Promise<HttpAnswer> {
    const connection = await next();
    try {
      return await connection.send(bytes, options);
    } finally {
      const waiter = waiting.shift();
      if (waiter) waiter(connection);
      else free.push(connection);
    }
  }

  return {
    send,
    request: (request) => send(requestText(request)),
    close() {
      for (const connection of connections) connection.close();
    },
  };
}

/** The body of a small, valid creation. */
export const smallRide = { pickup: { lat: 40.7, lng: -74 }, destination: { lat: 40.8, lng: -73.9 }, fare: 25 };
