import net from 'node:net';

/**
 * Writes these bytes on a new connection. Resolves with all that the server sent until it closed the connection, or
 * until `maxMs` passed, decoded as latin1.
 */
export async function rawExchange(
  url: string,
  bytes: string | Buffer,
  maxMs = 20_000,
): Promise<{ text: string; isClosed: boolean }> {
  const { hostname, port } = new URL(url);
  const socket = net.connect({ port: Number(port), host: hostname, noDelay: true });
  const chunks: Buffer[] = [];
  // The server may answer and close before it has read everything, so write errors are ignored.
  socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => {});
  const closed = new Promise<boolean>((resolve) => {
    socket.once('close', () => resolve(true));
    setTimeout(() => resolve(false), maxMs).unref();
  });
  socket.write(bytes);
  const isClosed = await closed;
  socket.destroy();
  return { text: Buffer.concat(chunks).toString('latin1'), isClosed };
}
