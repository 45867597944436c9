import net from 'node:net';

export interface RawAnswer {
  status: number;
  statusLine: string;
  /** In lower case, as a map from name to value. */
  headers: Record<string, string>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of an answer by its assertions.
  body: any;
}

/** Writes these bytes to a server, as no HTTP client would, and reads until it closes: ask for `Connection: close`. */
export async function rawRequest(url: string, ...pieces: (string | Buffer)[]): Promise<RawAnswer> {
  const { port, hostname } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  const closed = new Promise((resolve) => socket.on('close', resolve));
  // The server may answer and close before it has read all.
  socket.on('error', () => {});
  for (const piece of pieces) socket.write(piece);
  await closed;
  return parseAnswer(Buffer.concat(chunks).toString('latin1'));
}

/** The lines of a request, each ended as HTTP wants it, and then the body. */
export const requestText = (lines: string[], body = ''): string => `${lines.join('\r\n')}\r\n\r\n${body}`;

function parseAnswer(received: string): RawAnswer {
  // What the server says on the way to its answer is not the answer.
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
