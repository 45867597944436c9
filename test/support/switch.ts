import { once } from 'node:events';
import net from 'node:net';

/** A proxy to one server that can be switched to another server. */
export type Switch = Awaited<ReturnType<typeof startSwitch>>;

export async function startSwitch(firstPort: number) {
  let target = firstPort;
  const sockets = new Set<net.Socket>();
  let isHanging = false;
  const server = net.createServer((client) => {
    const upstream = net.connect(target, '127.0.0.1');
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      if (!isHanging) socket.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as net.AddressInfo).port,
    /** Sends new connections to this server from now on. Open connections do not change. */
    leadTo(port: number) {
      target = port;
    },
    /** Stops forwarding, without closing any connection. */
    hang() {
      isHanging = true;
      for (const socket of sockets) socket.unpipe();
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
