import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { rides } from '../../../shared/rides/ride.ts';
import type { AttemptKind } from '../../../shared/webhooks/attempts.ts';
import { between, type Random } from '../random.ts';

/** Kinds of receivers: answers immediately, after 0 to 9 s, with 500, by closing the connection, or never. */
export const manners = ['prompt', 'slow', 'failing', 'resetting', 'silent'] as const;
export type Manner = (typeof manners)[number];

/** One attempt as its receiver got it. */
export interface Receipt {
  /** From its headers: the attempt of an event, a resend, or a test event. */
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
  /** The body names a successor that did not exist when the event arrived. */
  namesMissing?: boolean;
}

type Watcher = { received?(receipt: Receipt): void; answered?(receipt: Receipt): void };
export type Receivers = Awaited<ReturnType<typeof startReceivers>>;

/** The query of a webhook URL may contain a secret of the receiver, so no log may contain it. */
export const canaryOfUrls = 'CANARY-url-query';

/**
 * Tolerated age of a signature: more than the age of a claim, but much less than the hour by which a wrong clock
 * differs.
 */
const signatureAgeMs = 60_000;

/**
 * Starts the receivers of all partners on one port of loopback. `secretsOf` returns the signing secrets of a key, or of
 * its further endpoint.
 */
export async function startReceivers(secretsOf: (keyId: string, ofEndpoint: boolean) => string[], random: Random) {
  const receipts: Receipt[] = [];
  const copies: Receipt[] = [];
  const asked: Receipt[] = [];
  const watchers = new Set<Watcher>();

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, manner = '', keyId = '', copy] = new URL(request.url ?? '/', 'http://receiver').pathname.split('/');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const receipt = receiptOf(request, keyId, Buffer.concat(chunks), () => secretsOf(keyId, copy !== undefined));
    const isEvent = receipt.kind === 'event' && !copy;
    (isEvent ? receipts : copy ? copies : asked).push(receipt);
    void checkSuccessor(receipt);
    if (isEvent) for (const { received } of watchers) received?.(receipt);
    if (manner === 'silent') return;
    if (manner === 'slow') await setTimeout(between(random, 0, 9_000));
    if (manner === 'resetting') return void request.socket.destroy();
    response.writeHead(manner === 'failing' ? 500 : 204).end(() => {
      receipt.answeredAt = Date.now();
      if (isEvent) for (const { answered } of watchers) answered?.(receipt);
    });
  }

  // Ignores errors, because the suite kills senders in the middle of a request.
  const server = createServer((request, response) => void receive(request, response).catch(() => {}));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    /** Received events, in order of arrival. */
    receipts,
    /** Received copies for further endpoints, in order of arrival. */
    copies,
    /** Received resends and test events, in order of arrival. */
    asked,
    /** The webhook URL of a key with this kind of receiver. */
    urlOf: (keyId: string, manner: Manner) => `${origin}/${manner}/${keyId}?token=${canaryOfUrls}`,
    /** The URL of a further endpoint of a key, which answers immediately. */
    copyUrlOf: (keyId: string) => `${origin}/prompt/${keyId}/copy?token=${canaryOfUrls}`,
    /**
     * Calls `received` when an event has arrived completely, and `answered` when its answer is written. Returns how to
     * stop.
     */
    watch(watcher: Watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** During an outage of MongoDB, the check has no result. */
async function checkSuccessor(receipt: Receipt): Promise<void> {
  const { replacedBy } = JSON.parse(receipt.body);
  if (!replacedBy) return;
  const count = await rides.countDocuments({ _id: replacedBy }).catch(() => 1);
  receipt.namesMissing = count === 0;
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
    // Checked when it is read, because a new secret may become known a moment after the first event signed with it.
    get isSigned() {
      return isTimely && secretsNow().some((secret) => signedWith(secret) === signature);
    },
    receivedAt: Date.now(),
  };
}
