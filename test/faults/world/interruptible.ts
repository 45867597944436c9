interface Server {
  url: string;
  close(): Promise<void>;
}

/** Starts a server that can be away. `start` starts it on a port; 0 means any. */
export async function startInterruptible<T extends Server>(start: (port: number) => Promise<T>) {
  let server = await start(0);
  const { url } = server;
  return {
    url,
    running: () => server,
    /** Stops the server, runs `work`, and then starts the server again on the same port. */
    async away(work: () => Promise<unknown>) {
      await server.close();
      await work();
      server = await start(Number(new URL(url).port));
    },
    close: () => server.close(),
  };
}
