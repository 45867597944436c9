import { EventEmitter, once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { deliveryHeaders, signatureHeader } from '../../shared/webhooks/sign.ts';

export interface FedEvent {
  eventId: string;
  rideId: string;
  seq: number;
  event: 'ride.status';
  at: number;
  body: object;
}

const pageSize = 3;

/** A service that only has an event feed, which shows as many of `events` as `shown` says. */
export async function startFeed(events: readonly FedEvent[]) {
  const news = new EventEmitter().setMaxListeners(0);
  let shown = 0;
  const server = http.createServer(async (request, response) => {
    const query = new URL(request.url ?? '', 'http://localhost').searchParams;
    const after = Number(query.get('after')?.replace('cur_', '') ?? 0);
    if (Number(query.get('waitSeconds')) > 0 && after >= shown) await once(news, 'shown');
    const page = events.slice(after, Math.min(shown, after + pageSize));
    const end = after + page.length;
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.end(JSON.stringify({ events: page, cursor: end > 0 ? `cur_${end}` : null, hasMore: end < shown }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    show(count: number) {
      shown = Math.max(shown, count);
      news.emit('shown');
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Sends an event to a receiver, with the signature of a delivery. Resolves with the status of the answer. */
export async function sendWebhook(
  { event, eventId, seq, body }: FedEvent,
  to: { port: number; secret: string },
): Promise<number> {
  const text = JSON.stringify(body);
  const signature = signatureHeader(to.secret, text, Math.floor(Date.now() / 1_000));
  const headers = { 'Content-Type': 'application/json', ...deliveryHeaders({ event, eventId, seq }, signature) };
  return (await fetch(`http://127.0.0.1:${to.port}/`, { method: 'POST', headers, body: text })).status;
}

/** The events of rides under way at the same time: each ride has four, and the last one completes it. */
export function eventsOf(rides: number): FedEvent[] {
  const statuses = ['driver_arriving', 'arrived', 'in_progress', 'completed'];
  return Array.from({ length: rides * statuses.length }, (_, index) => {
    // Two rides take turns.
    const [pair, turn] = [Math.floor(index / 8), index % 8];
    const rideId = `ride_${2 * pair + (turn % 2)}`;
    const seq = Math.floor(turn / 2) + 1;
    const about = {
      eventId: `evt_${rideId.slice(5)}_${seq}`,
      rideId,
      event: 'ride.status' as const,
      at: 1_000 + index,
    };
    return { ...about, seq, body: { ...about, status: statuses[seq - 1], sequence: seq } };
  });
}
