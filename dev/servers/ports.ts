import net from 'node:net';

/** A port of 127.0.0.1 that was free a moment ago: whoever binds it must be ready to ask for another. */
export async function freePort(): Promise<number> {
  const server = await listen(0);
  const { port } = server.address() as net.AddressInfo;
  await close(server);
  return port;
}

export async function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  try {
    await close(await listen(port, host));
    return true;
  } catch {
    return false;
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
