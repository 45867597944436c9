import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { fileURLToPath } from 'node:url';
import type { Attempt } from '../../workers/webhooks/send.ts';

/** A certificate for `localhost` and 127.0.0.1 that is its own authority, valid from 2020 to 2120. */
export const certificateFile = fileURLToPath(new URL('tls-localhost-cert.pem', import.meta.url));
export const certificate = readFileSync(certificateFile, 'utf8');
/** The same, but valid in 2010 alone. */
export const expiredCertificate = readFileSync(new URL('tls-localhost-expired-cert.pem', import.meta.url), 'utf8');
export const privateKey = readFileSync(new URL('tls-localhost-key.pem', import.meta.url), 'utf8');

/** A partner's server as raw sockets: it shows the bytes that came, and answers what no HTTP library would. */
export type Receiver = {
  port: number;
  origin: string;
  /** One for each connection, in order. */
  connections: Socket[];
  /** All bytes that came, as text. */
  received(): string;
  /** Waits until the sender has closed every connection: a socket that it forgets makes the test time out. */
  close(): Promise<void>;
};

export type ReceiverOptions = {
  /** Called once for each connection, with the first bytes that come (a small request comes whole). */
  answer?: (socket: Socket) => void;
  connected?: (socket: Socket) => void;
  /** Given: the receiver speaks TLS, with the certificate above and these options. */
  tls?: TlsOptions;
};

export async function startReceiver({ answer, connected, tls }: ReceiverOptions = {}): Promise<Receiver> {
  const connections: Socket[] = [];
  const chunks: Buffer[] = [];
  const serve = (socket: Socket) => {
    connections.push(socket);
    socket.on('error', () => {});
    socket.on('data', (chunk) => chunks.push(chunk));
    if (answer) socket.once('data', () => answer(socket));
    connected?.(socket);
  };
  const server = tls ? createTlsServer({ cert: certificate, key: privateKey, ...tls }, serve) : createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`,
    connections,
    received: () => Buffer.concat(chunks).toString(),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** An attempt to deliver to a receiver that is a local target, under a claim that is young; limit: 5 s. */
export function attemptTo({ origin }: { origin: string }, changes: Partial<Attempt> = {}): Attempt {
  return {
    url: `${origin}/hook`,
    body: '{"event":"ride.status"}',
    localTargets: [origin],
    headersNow: () => ({ 'X-Service-Event': 'ride.status' }),
    renewClaim: () => Promise.reject(new Error('a young claim needs no renewal')),
    timeoutMs: 5_000,
    ...changes,
  };
}
