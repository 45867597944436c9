import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Receipt {
  headers: IncomingHttpHeaders;
  raw: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a body by its assertions.
  body: any;
}

export interface Receiver {
  origin: string;
  url: string;
  receipts: Receipt[];
  /** Resolves with everything received, as soon as it is at least so many. */
  received(count: number): Promise<Receipt[]>;
  close(): Promise<void>;
}

/** A partner's webhook receiver on loopback; it answers 200 unless told otherwise. */
export async function startReceiver(
  answer: (response: ServerResponse, receipt: Receipt) => void = (response) => response.end(),
): Promise<Receiver> {
  const receipts: Receipt[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const raw = Buffer.concat(chunks).toString('utf8');
    const receipt = { headers: request.headers, raw, body: JSON.parse(raw) };
    receipts.push(receipt);
    server.emit('receipt');
    answer(response, receipt);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    url: `${origin}/events`,
    receipts,
    async received(count) {
      while (receipts.length < count) await once(server, 'receipt');
      return receipts;
    },
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
