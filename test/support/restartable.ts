import type { RunningServer } from '../../dev/servers/processes.ts';

/** A server that can be killed, stopped or paused, and restarts at the same address with the same data. */
export type Restartable = Awaited<ReturnType<typeof restartable>>;

export async function restartable(start: (url?: string) => Promise<RunningServer>) {
  let server = await start();
  const { url } = server;
  return {
    url,
    get pid() {
      return server.pid;
    },
    /** Ends the server at once, with SIGKILL. */
    async kill() {
      process.kill(server.pid, 'SIGKILL');
      await server.exited;
    },
    /** Ends the server cleanly, as an operator does. */
    stop: () => server.stop(),
    /** Starts the server again after `kill` or `stop`. Resolves when it answers. */
    async start() {
      server = await start(url);
    },
    /** Pauses the server (SIGSTOP) until `resume`: it keeps its connections and answers nothing. */
    pause: () => void process.kill(server.pid, 'SIGSTOP'),
    resume: () => void process.kill(server.pid, 'SIGCONT'),
  };
}

/** A server that this machine's processes only use: it cannot be killed or paused, and `stop` drops what they stored. */
export function fixedServer(url: string, stop: () => Promise<void>): Restartable {
  const refuse = () => {
    throw new Error('only the embedded MongoDB can be killed or paused: unset TEST_MONGO_URL');
  };
  return { url, pid: 0, stop, kill: refuse, start: refuse, pause: refuse, resume: refuse };
}
