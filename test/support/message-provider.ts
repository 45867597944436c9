import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message that the provider received, in the order of arrival. */
export interface ReceivedMessage {
  to: string;
  text: string;
  from: string;
  callback: string;
  /** The token by which the provider recognizes a repeat. */
  token: string;
  authorization: string;
  /** An earlier request with the same token was accepted, so no second text is sent. */
  isRepeat: boolean;
}

/** The status and JSON of an answer; `none` lets the request hang. */
type Answer = { status: number; body: unknown } | 'none';

export type MessageProvider = Awaited<ReturnType<typeof startMessageProvider>>;

export const providerToken = 'token-of-tests';

/** A server with Twilio's Messages API on loopback. It adds each message to `received`, and never sends anything. */
export async function startMessageProvider(port = 0, received: ReceivedMessage[] = []) {
  const accepted = new Set<string>();
  const accept = ({ token }: ReceivedMessage) => acceptance(token);
  let decide: (message: ReceivedMessage) => Answer = accept;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const form = new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
    const token = String(request.headers['i-twilio-idempotency-token'] ?? '');
    const message: ReceivedMessage = {
      to: form.get('To') ?? '',
      text: form.get('Body') ?? '',
      from: form.get('From') ?? form.get('MessagingServiceSid') ?? '',
      callback: form.get('StatusCallback') ?? '',
      token,
      authorization: request.headers.authorization ?? '',
      isRepeat: accepted.has(token),
    };
    received.push(message);
    const answer = decide(message);
    if (answer !== 'none' && answer.status < 300) accepted.add(token);
    send(response, answer);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: bound } = server.address() as AddressInfo;
  return {
    /** The value of SMS_URL. */
    url: `http://AC123:${providerToken}@127.0.0.1:${bound}/2010-04-01/Accounts/AC123/Messages.json`,
    received,
    /** The texts that people got: each token once. */
    texts: () => received.filter(({ token, isRepeat }) => accepted.has(token) && !isRepeat),
    /** Decides the answers from now on; without an argument, every message is accepted. */
    answerWith(next: (message: ReceivedMessage) => Answer = accept) {
      decide = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** What the provider answers to an accepted message; its id follows from the token. */
export const acceptance = (token: string): Answer => ({
  status: 201,
  body: { sid: `SM${createHash('md5').update(token).digest('hex')}`, status: 'queued' },
});

/** A refusal with one of the provider's error codes. */
export const refusedWith = (code: number): Answer => ({ status: 400, body: { code, message: 'refused', status: 400 } });

function send(response: ServerResponse, answer: Answer): void {
  if (answer === 'none') return;
  response.writeHead(answer.status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(answer.body));
}
