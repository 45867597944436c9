import { randomInt } from 'node:crypto';
import net from 'node:net';

const attempts = 5;

/** Starts a server on a free port. Retries with another port if a process binds the first one before the server. */
export async function onFreePort<Server>(start: (port: number) => Promise<Server>): Promise<Server> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (attempt === attempts || !/in use|EADDRINUSE|listening on port/i.test((error as Error).message)) throw error;
    }
  }
}

/**
 * A port of 127.0.0.1 that was free a moment ago. It is below the range from which Linux and macOS choose the ports of
 * outgoing connections, so only another server can bind it first. If the bind fails, the caller must retry with another
 * port.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(16_000, 32_000);
    const problem = await portProblem(port, '127.0.0.1');
    if (problem === undefined) return port;
    if (problem !== 'EADDRINUSE') throw new Error(`No port of 127.0.0.1 can be opened (${problem})`);
  }
}

/** The system's code if the port cannot be bound (`EADDRINUSE`, `EADDRNOTAVAIL`), else undefined. */
export async function portProblem(port: number, host: string): Promise<string | undefined> {
  try {
    await close(await listen(port, host));
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}

function listen(port: number, host = '127.0.0.1'): Promise<net.Server> {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}

function close(server: net.Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
