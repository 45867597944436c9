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
  /** The status line and the headers, as they came. */
  head: string;
  text: string;
  /** When the first byte of the request was handed to the kernel, and when the answer was whole: `performance.now()`. */
  startedAt: number;
  endedAt: number;
}

/** The request went out on the connection and no answer came. */
export class NoAnswer extends Error {
  override name = 'NoAnswer';
}

const longestAnswerMs = 20_000;
/** The service cuts what is idle for 14 s: a connection that has rested for long may be closing just now. */
const longestRestMs = 5_000;

/** The bytes of a request, as a plain client writes them. */
export function requestText({ method = 'GET', path, key, headers = {}, body }: HttpRequest): string {
  const text = typeof body === 'object' ? JSON.stringify(body) : body;
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: rides.example'];
  if (key) lines.push(`Authorization: Bearer ${key}`);
  if (text !== undefined) lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`);
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  return `${lines.join('\r\n')}\r\n\r\n${text ?? ''}`;
}

/** One connection that is kept open, for one request at a time. It opens (again) when it is used. */
export interface HttpConnection {
  /**
   * Rejects with NoAnswer where the request was written and the connection ended first, with the socket's own error where
   * none could be opened.
   */
  send(bytes: string | Buffer, options?: { isHead?: boolean }): Promise<HttpAnswer>;
  request(request: HttpRequest): Promise<HttpAnswer>;
  close(): void;
}

export function httpConnection(url: string): HttpConnection {
  const { hostname, port } = new URL(url);
  let socket: net.Socket | undefined;
  let restsSince = 0;

  async function openSocket(): Promise<net.Socket> {
    const hasRestedLong = performance.now() - restsSince > longestRestMs;
    if (socket && !socket.destroyed && socket.writable && !hasRestedLong) return socket;
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
    restsSince = performance.now();
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
      socket.off('data', take).off('close', lose);
      settle();
    };
    const lose = () => end(() => reject(new NoAnswer('the connection ended before the answer')));
    const give = (why: string) => {
      socket.destroy();
      end(() => reject(new NoAnswer(why)));
    };
    const timer = setTimeout(() => give(`no answer within ${longestAnswerMs / 1_000} s`), longestAnswerMs);
    const take = (chunk: Buffer) => {
      received = received.length ? Buffer.concat([received, chunk]) : chunk;
      const read = readAnswer(received, isHead);
      if (read === 'more') return;
      if (read === 'wrong') return give('what came is no single HTTP answer with a length');
      end(() => resolve({ ...read, startedAt, endedAt: performance.now() }));
    };
    socket.on('data', take).on('close', lose);
    socket.write(bytes);
  });
}

/** The one answer in these bytes, without interim ones. The service gives each of its answers a length, but for a 204. */
function readAnswer(bytes: Buffer, isHead: boolean): Pick<HttpAnswer, 'status' | 'head' | 'text'> | 'more' | 'wrong' {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return 'more';
  const head = bytes.toString('latin1', 0, headEnd);
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
  if (status >= 100 && status < 200) return readAnswer(bytes.subarray(headEnd + 4), isHead);
  // A HEAD that the parser refuses is answered with a body, and the connection ends.
  if (isHead && /^connection: close\r?$/im.test(head)) return { status, head, text: '' };
  const length = /^content-length: (\d+)\r?$/im.exec(head)?.[1];
  const isBodiless = isHead || status === 204;
  if (!status || (length === undefined && !isBodiless)) return 'wrong';
  const wholeBytes = headEnd + 4 + (isBodiless ? 0 : Number(length));
  if (bytes.length < wholeBytes) return 'more';
  return bytes.length > wholeBytes ? 'wrong' : { status, head, text: bytes.toString('utf8', headEnd + 4) };
}

/** Some connections to one address; a request takes the one that was free last, and waits where none is. */
export function httpClient(url: string, size: number): Pick<HttpConnection, 'send' | 'request' | 'close'> {
  const connections = Array.from({ length: size }, () => httpConnection(url));
  const free = [...connections];
  const waiting: ((connection: HttpConnection) => void)[] = [];

  async function send(bytes: string | Buffer, options?: { isHead?: boolean }): Promise<HttpAnswer> {
    const connection = free.pop() ?? (await new Promise<HttpConnection>((resolve) => waiting.push(resolve)));
    try {
      return await connection.send(bytes, options);
    } finally {
      const next = waiting.shift();
      if (next) next(connection);
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

/** A creation that is valid, and small. */
export const smallRide = { pickup: { lat: 40.7, lng: -74 }, destination: { lat: 40.8, lng: -73.9 }, fare: 25 };
