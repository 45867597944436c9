import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { AttemptKind } from '../../../shared/webhooks/attempts.ts';
import { between, type Random } from '../random.ts';

/** How a partner's receiver answers: at once, after 0 to 9 s, with 500, by closing the connection, or not at all. */
export const manners = ['prompt', 'slow', 'failing', 'resetting', 'silent'] as const;
export type Manner = (typeof manners)[number];

/** One attempt as the receiver saw it. */
export interface Receipt {
  /** By its headers: an event's own attempt, a resend, or a test event. */
  kind: AttemptKind;
  keyId: string;
  rideId: string;
  seq: number;
  eventId: string;
  body: string;
  isSigned: boolean;
  /** Unix time in ms. */
  receivedAt: number;
  answeredAt?: number;
}

export interface Receivers {
  origin: string;
  /** Events, in the order in which they came. */
  receipts: Receipt[];
  /** Resends and test events, in the order in which they came. */
  asked: Receipt[];
  /** The webhook URL of a key whose receiver answers in that manner. */
  urlOf(keyId: string, manner: Manner): string;
  /** Called when an event has come whole, and when its answer has been written. */
  watch(watcher: { taken?(receipt: Receipt): void; answered?(receipt: Receipt): void }): () => void;
  close(): void;
}

/** The query may hold a secret of the receiver's; no log may show it. */
export const canaryOfUrls = 'CANARY-url-query';

/** The signature's time may be off by the age of a claim, never by a wrong clock's hour. */
const signatureAgeMs = 60_000;

/** The receivers of all partners, on one port of loopback. `secretsOf` knows each key's signing secrets. */
export async function startReceivers(secretsOf: (keyId: string) => string[], random: Random): Promise<Receivers> {
  const receipts: Receipt[] = [];
  const asked: Receipt[] = [];
  const watchers = new Set<Parameters<Receivers['watch']>[0]>();

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, manner = '', keyId = ''] = new URL(request.url ?? '/', 'http://receiver').pathname.split('/');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const receipt = receiptOf(request, keyId, Buffer.concat(chunks), () => secretsOf(keyId));
    const isEvent = receipt.kind === 'event';
    (isEvent ? receipts : asked).push(receipt);
    if (isEvent) for (const { taken } of watchers) taken?.(receipt);
    if (manner === 'silent') return;
    if (manner === 'slow') await setTimeout(between(random, 0, 9_000));
    if (manner === 'resetting') return void request.socket.destroy();
    response.writeHead(manner === 'failing' ? 500 : 204).end(() => {
      receipt.answeredAt = Date.now();
      if (isEvent) for (const { answered } of watchers) answered?.(receipt);
    });
  }

  // A sender that was killed in the middle is no fault of the receiver.
  const server = createServer((request, response) => void take(request, response).catch(() => {}));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    receipts,
    asked,
    urlOf: (keyId, manner) => `${origin}/${manner}/${keyId}?token=${canaryOfUrls}`,
    watch(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function receiptOf(request: IncomingMessage, keyId: string, raw: Buffer, secretsNow: () => string[]): Receipt {
  const body = raw.toString('utf8');
  const [, time = '', signature] =
    /^t=(\d+),v1=([0-9a-f]{64})$/.exec(`${request.headers['x-service-signature']}`) ?? [];
  const signedWith = (secret: string) => createHmac('sha256', secret).update(`${time}.`).update(raw).digest('hex');
  const isTimely = Math.abs(Date.now() - Number(time) * 1_000) < signatureAgeMs;
  const { headers } = request;
  return {
    kind: headers['x-service-test'] ? 'test' : headers['x-service-redelivery'] ? 'redelivery' : 'event',
    keyId,
    rideId: JSON.parse(body).rideId,
    seq: Number(request.headers['x-service-sequence']),
    eventId: `${request.headers['x-service-event-id']}`,
    body,
    // Judged when it is read: a secret may be known a moment after the event that is signed with it.
    get isSigned() {
      return isTimely && secretsNow().some((secret) => signedWith(secret) === signature);
    },
    receivedAt: Date.now(),
  };
}
