import fs from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import net from 'node:net';
import { performance } from 'node:perf_hooks';
import tls from 'node:tls';
import { answer } from '../measured/ipc.ts';

/**
 * A partner's receiver. It uses raw sockets to need as little as possible of the CPU that it shares with the service.
 * It answers 200 after DELAY_MS and closes. It uses TLS if TLS_CERT and TLS_KEY name the files of a certificate and its
 * key.
 */
const { DELAY_MS = '0', TLS_CERT, TLS_KEY } = process.env;
const delayMs = Number(DELAY_MS);
const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';

/** A request as text, and when its first byte arrived (Unix ms). */
export type Receipt = { atMs: number; text: string };
export type ReceivedCount = { count: number; lastMs: number };

let count = 0;
let lastMs = 0;
let receipts: Receipt[] | null = null;

const nowMs = () => performance.timeOrigin + performance.now();

function serve(socket: Socket): void {
  let text = '';
  let firstMs = 0;
  socket.setEncoding('latin1');
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    firstMs ||= nowMs();
    text += chunk;
    if (!isWhole(text)) return;
    count += 1;
    lastMs = nowMs();
    receipts?.push({ atMs: firstMs, text });
    if (delayMs > 0) setTimeout(() => socket.end(ok), delayMs);
    else socket.end(ok);
  });
}

function isWhole(text: string): boolean {
  const headLength = text.indexOf('\r\n\r\n');
  if (headLength < 0) return false;
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? 0);
  return text.length >= headLength + 4 + length;
}

answer('reset', ({ record }: { record: boolean }) => {
  count = 0;
  receipts = record ? [] : null;
});
answer('received', (): ReceivedCount => ({ count, lastMs }));
answer('receipts', () => receipts);
answer('port', () => (server.address() as AddressInfo).port);

const server = TLS_CERT
  ? tls.createServer({ cert: fs.readFileSync(TLS_CERT), key: fs.readFileSync(TLS_KEY ?? '') }, serve)
  : net.createServer(serve);
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  process.send?.('ready');
});
