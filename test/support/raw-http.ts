import net from 'node:net';
import { documentProblem } from './documented.ts';

export interface RawAnswer {
  status: number;
  statusLine: string;
  /** The headers, by lower-case name. */
  headers: Record<string, string>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests assert what they expect of a response.
  body: any;
}

/**
 * Writes any bytes to a server, even bytes that no HTTP client would send, and reads until the server closes. So the
 * request must have `Connection: close`. Throws if the response differs from the OpenAPI document.
 */
export async function rawRequest(url: string, ...pieces: (string | Buffer)[]): Promise<RawAnswer> {
  const { port, hostname } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  const closed = new Promise((resolve) => socket.on('close', resolve));
  // The server may answer and close before it has read everything.
  socket.on('error', () => {});
  for (const piece of pieces) socket.write(piece);
  await closed;
  const answer = parseAnswer(Buffer.concat(chunks).toString('latin1'));
  const [, method, target] = /^([A-Z-]+) (\S+) HTTP/.exec(String(pieces[0])) ?? [];
  const { status, headers, body } = answer;
  const header = (name: string) => headers[name.toLowerCase()] ?? null;
  // The server may also close without an answer.
  const problem =
    status > 0 &&
    method &&
    target &&
    documentProblem({ method, target, status, header, headerNames: Object.keys(headers), body });
  if (problem) throw new Error(`not as documented: ${problem}`);
  return answer;
}

/** The lines of a request with HTTP line ends, followed by the body. */
export const requestText = (lines: string[], body = ''): string => `${lines.join('\r\n')}\r\n\r\n${body}`;

export type RawConnection = ReturnType<typeof rawConnection>;

/** A connection that stays open for several requests. */
export function rawConnection(port: number) {
  // Stays open when the server has closed its side, until the test closes the client's side.
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const answers: RawAnswer[] = [];
  let received = '';
  socket.setEncoding('latin1').on('data', (text) => {
    received += text;
    for (let whole = firstAnswer(received); whole; whole = firstAnswer(received)) {
      answers.push(parseAnswer(whole));
      received = received.slice(whole.length);
    }
  });
  socket.on('error', () => {});
  socket.on('end', () => socket.end());
  const closed = new Promise((resolve) => socket.on('close', resolve));
  return {
    socket,
    closed,
    /** Resolves with the first `count` responses, or with those that arrived before the server closed. */
    answers: (count = Number.POSITIVE_INFINITY) =>
      new Promise<RawAnswer[]>((resolve) => {
        const look = () => {
          if (answers.length >= count || socket.destroyed) resolve(answers);
        };
        socket.on('data', look).on('close', look);
        look();
      }),
  };
}

/** The first response, up to its Content-Length. Undefined while it is incomplete. */
function firstAnswer(received: string): string | undefined {
  const bodyAt = received.indexOf('\r\n\r\n') + 4;
  if (bodyAt < 4) return undefined;
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(received.slice(0, bodyAt))?.[1]);
  return bodyAt + length <= received.length ? received.slice(0, bodyAt + length) : undefined;
}

/** Throws if the body is not JSON. */
export function parseAnswer(received: string): RawAnswer {
  // Skips a 100 Continue before the response.
  const answer = received.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
  const [head = '', ...rest] = answer.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...value] = line.split(':');
      return [name.toLowerCase(), value.join(':').trim()];
    }),
  );
  const text = rest.join('\r\n\r\n');
  return {
    status: Number(statusLine.split(' ')[1]),
    statusLine,
    headers,
    text,
    body: text ? JSON.parse(text) : undefined,
  };
}
