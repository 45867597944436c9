import net from 'node:net';

const attempts = 5;

/** Starts a server on a free port. Retries with another port if a process binds the first one before the server. */
export async function onFreePort<Server>(start: (port: number) => Promise<Server>): Promise<Server> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (attempt === attempts || !/in use|listening on port/i.test((error as Error).message)) throw error;
    }
  }
}

/** A port of 127.0.0.1 that was just free. Another process may bind it first, so retry a failed bind. */
export async function freePort(): Promise<number> {
  const server = await listen(0);
  const { port } = server.address() as net.AddressInfo;
  await close(server);
  return port;
}

/** The system's code if a port cannot be listened on (`EADDRINUSE`, `EADDRNOTAVAIL`), else undefined. */
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
