import { type ChildProcess, spawn } from 'node:child_process';
import readline from 'node:readline';
import { endChild, endWithThisProcess, exitOf, type RunningProcess } from '../servers/processes.ts';

/** A service must stop within `SHUTDOWN_GRACE_MS`. After this much more time, it counts as hanging and is killed. */
const killMarginMs = 500;

type ServiceOptions = {
  name: string;
  /** The compiled file that the process runs. */
  script: string;
  args?: string[];
  env: NodeJS.ProcessEnv & { SHUTDOWN_GRACE_MS: string };
  onLine: (line: string) => void;
};

/** Starts an API or worker process and waits until it is ready. `onLine` gets each line that it prints. */
export async function startService(options: ServiceOptions): Promise<RunningProcess> {
  const args = ['--enable-source-maps', options.script, ...(options.args ?? [])];
  const child = spawn(process.execPath, args, {
    env: options.env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // The service has its own process group: a Ctrl-C reaches only the stack, which then ends its services in order.
    detached: true,
  });
  endWithThisProcess(child);
  const exited = exitOf(child);
  let complaint = '';
  forEachLine(child.stdout, options.onLine);
  forEachLine(child.stderr, (line) => {
    complaint = line;
    options.onLine(line);
  });
  const reason = await Promise.race([readyMessage(child), exited]);
  if (reason) throw new Error(complaint || `${options.name} did not start: ${reason}`);
  const stopGraceMs = Number(options.env.SHUTDOWN_GRACE_MS) + killMarginMs;
  return { pid: child.pid ?? 0, exited, stop: () => endChild(child, exited, stopGraceMs) };
}

function readyMessage(child: ChildProcess): Promise<undefined> {
  return new Promise((resolve) => {
    child.on('message', (message) => {
      if (message === 'ready') resolve(undefined);
    });
  });
}

function forEachLine(stream: NodeJS.ReadableStream | null, onLine: (line: string) => void): void {
  if (stream) readline.createInterface({ input: stream }).on('line', onLine);
}
