// Listens on loopback and never takes a connection: once the kernel's queue of two is full, it answers nobody any more.
// Prints its port.
import fs from 'node:fs';
import net, { type AddressInfo } from 'node:net';

const server = net.createServer();
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  fs.writeSync(1, `${(server.address() as AddressInfo).port}\n`);
  // In the tick in which it listens: nothing is ever accepted.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
