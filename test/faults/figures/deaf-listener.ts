// Listens on loopback and never accepts a connection: once the kernel's backlog of two is full, new connections get no
// answer. Prints its port.
import fs from 'node:fs';
import net, { type AddressInfo } from 'node:net';

const server = net.createServer();
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  fs.writeSync(1, `${(server.address() as AddressInfo).port}\n`);
  // Blocks the event loop in the same tick as the listen, so that this process never accepts a connection.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
