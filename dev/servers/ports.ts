import net from 'node:net';

/** A port of 127.0.0.1 that was free a moment ago: whoever binds it must be ready to ask for another. */
export async function freePort(): Promise<number> {
  const server = await listen(0);
  const { port } = server.address() as net.AddressInfo;
  await close(server);
  return port;
}

/** Why a port cannot be listened on, as the system's code (`EADDRINUSE`, `EADDRNOTAVAIL`); undefined where it can. */
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
