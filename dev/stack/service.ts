import { type ChildProcess, spawn } from 'node:child_process';
import readline from 'node:readline';
import { endWithThisProcess } from '../servers/end-with-this-process.ts';
import { nodeCommand } from '../servers/node-command.ts';
import { endChild, exitOf, type RunningProcess } from '../servers/running-server.ts';

/** A service ends its work in `SHUTDOWN_GRACE_MS` by itself; this much later, it hangs and is killed. */
const hangsAfterMs = 500;

export type ServiceOptions = {
  name: string;
  script: string;
  args?: string[];
  env: NodeJS.ProcessEnv & { SHUTDOWN_GRACE_MS: string };
  onLine: (line: string) => void;
};

/** Starts a process of the product and waits until it says that it serves. What it prints comes in lines. */
export async function startService(options: ServiceOptions): Promise<RunningProcess> {
  const [command = '', ...args] = nodeCommand(options.script, options.args);
  const child = spawn(command, args, {
    env: options.env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // A Ctrl-C goes to the whole process group: in one of its own, a service ends only when its stack says so.
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
  const stopGraceMs = Number(options.env.SHUTDOWN_GRACE_MS) + hangsAfterMs;
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
