import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import http, { type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import tls, { type TlsOptions } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { useStarted } from './use-started.ts';

/** A self-signed certificate for `localhost` and 127.0.0.1, valid from 2020 to 2120. */
export const certificateFile = fileURLToPath(new URL('tls-localhost-cert.pem', import.meta.url));
export const certificate = readFileSync(certificateFile, 'utf8');
/** A certificate like it, which was valid only in 2010. */
export const expiredCertificate = readFileSync(new URL('tls-localhost-expired-cert.pem', import.meta.url), 'utf8');
export const privateKey = readFileSync(new URL('tls-localhost-key.pem', import.meta.url), 'utf8');

/** One event that a receiver got. */
export interface Receipt {
  path: string;
  headers: IncomingHttpHeaders;
  raw: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests assert what they expect of a body.
  body: any;
}

export type Receiver = Awaited<ReturnType<typeof startHttp>>;

/** A receiver on raw sockets: it exposes the received bytes, and can answer what no HTTP library would. */
export type RawReceiver = Awaited<ReturnType<typeof startRaw>>;

export interface HttpOptions {
  raw?: false;
  /** Answers a webhook. The default is a 200. */
  answer?: (response: ServerResponse, receipt: Receipt) => void;
  /** The default is any free port. */
  port?: number;
}

export interface RawOptions {
  raw: true;
  /**
   * Called once per connection, when its first bytes arrive (a small request arrives whole). Without it, the receiver
   * does not answer.
   */
  answer?: (socket: Socket) => void;
  connected?: (socket: Socket) => void;
  /** The options of TLS, which the receiver then uses with the certificate above. */
  tls?: TlsOptions;
}

/** A partner's webhook receiver on loopback: over HTTP, or on raw sockets with `raw`. */
export function startReceiver(options?: HttpOptions): Promise<Receiver>;
export function startReceiver(options: RawOptions): Promise<RawReceiver>;
export function startReceiver(options: HttpOptions | RawOptions = {}): Promise<Receiver | RawReceiver> {
  return options.raw ? startRaw(options) : startHttp(options);
}

/** A receiver over HTTP for the tests of the surrounding describe. Each test begins without receipts and with its first answer. */
export function useReceiver(options?: HttpOptions): Receiver {
  const receiver = useStarted(() => startReceiver(options));
  beforeEach(() => {
    receiver.receipts.length = 0;
    receiver.answerWith();
  });
  return receiver;
}

async function startHttp({ answer: first = (response) => void response.end(), port = 0 }: HttpOptions) {
  let answer = first;
  const receipts: Receipt[] = [];
  const news = new EventEmitter().setMaxListeners(0);
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const raw = Buffer.concat(chunks).toString('utf8');
    const receipt = { path: request.url ?? '', headers: request.headers, raw, body: JSON.parse(raw) };
    receipts.push(receipt);
    news.emit('receipt');
    answer(response, receipt);
  });
  const origin = `http://127.0.0.1:${await listen(server, port)}`;
  return {
    origin,
    url: `${origin}/events`,
    receipts,
    /** Resolves with all receipts, once there are at least `count`. */
    async received(count: number) {
      while (receipts.length < count) await once(news, 'receipt');
      return receipts;
    },
    /** Replaces the answer to all later webhooks. Without an argument, the receiver answers as at its start. */
    answerWith(next = first) {
      answer = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function startRaw({ answer, connected, tls: tlsOptions }: RawOptions) {
  const connections: Socket[] = [];
  const chunks: Buffer[] = [];
  const serve = (socket: Socket) => {
    connections.push(socket);
    socket.on('error', () => {});
    socket.on('data', (chunk) => chunks.push(chunk));
    if (answer) socket.once('data', () => answer(socket));
    connected?.(socket);
  };
  const server = tlsOptions
    ? tls.createServer({ cert: certificate, key: privateKey, ...tlsOptions }, serve)
    : net.createServer(serve);
  const port = await listen(server);
  return {
    port,
    origin: tlsOptions ? `https://localhost:${port}` : `http://127.0.0.1:${port}`,
    /** The connections, in the order in which they were opened. */
    connections,
    /** All received bytes, as text. */
    received: () => Buffer.concat(chunks).toString(),
    /** Waits until the sender has closed every connection. A leaked socket makes the test time out. */
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

async function listen(server: net.Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
