import net from 'node:net';

/** The answer to a request. A status of 0 means a broken connection. */
export type Reply = { status: number; retryAfter: boolean };

/** One keep-alive connection that sends one request at a time, with as little work as possible. */
export type HttpConnection = ReturnType<typeof httpConnection>;

/** Connects at the first request, and reconnects at the next request after the server has closed the connection. */
export function httpConnection(port: number) {
  let socket: net.Socket | undefined;
  let answered: ((reply: Reply) => void) | undefined;
  let received: Buffer | undefined;

  const settle = (reply: Reply) => {
    const settled = answered;
    answered = undefined;
    received = undefined;
    settled?.(reply);
  };
  const connect = (): net.Socket => {
    const opened = net.connect({ port, host: '127.0.0.1', noDelay: true });
    opened.on('data', (chunk) => {
      received = received ? Buffer.concat([received, chunk]) : chunk;
      const reply = wholeReply(received);
      if (reply) settle(reply);
    });
    opened.on('error', () => {});
    opened.once('close', () => {
      if (socket === opened) socket = undefined;
      settle({ status: 0, retryAfter: false });
    });
    return opened;
  };
  return {
    send(request: Buffer, onReply: (reply: Reply) => void) {
      answered = onReply;
      socket ??= connect();
      socket.write(request);
    },
    close: () => socket?.destroy(),
  };
}

/** Parses a complete reply. Returns undefined while a part is missing. All replies have a Content-Length. */
function wholeReply(received: Buffer): Reply | undefined {
  const headLength = received.indexOf('\r\n\r\n');
  if (headLength < 0) return undefined;
  const head = received.toString('latin1', 0, headLength);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (!length) throw new Error(`a reply without Content-Length: ${head}`);
  if (received.length < headLength + 4 + Number(length[1])) return undefined;
  return { status: Number(head.slice(9, 12)), retryAfter: /\r\nretry-after: /i.test(head) };
}
