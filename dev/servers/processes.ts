import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { pathToFileURL } from 'node:url';

/** The command that runs a TypeScript file in a single process. The `tsx` command would start a second process. */
export function nodeCommand(script: string, args: string[] = []): string[] {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  return [process.execPath, '--import', tsx, script, ...args];
}

export interface RunningProcess {
  pid: number;
  /** Ends the process cleanly, or by force after a few seconds. May be called more than once. */
  stop(): Promise<void>;
  /** Resolves when the process has ended, with a text that describes the reason. */
  exited: Promise<string>;
}

/** A server that this process has started for itself. */
export interface RunningServer extends RunningProcess {
  url: string;
}

/** Resolves when the process has ended or could not be started, with a text that describes the reason. */
export function exitOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ? `killed by ${signal}` : `exit code ${code}`));
    child.once('error', (error) => resolve(error.message));
  });
}

/** Ends the process with SIGTERM, and after `graceMs` with SIGKILL. */
export async function endChild(child: ChildProcess, exited: Promise<string>, graceMs: number): Promise<void> {
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await exited;
  clearTimeout(force);
}

/** True if a process is running. A zombie, which has ended but was not reaped by its parent, is not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return process.platform !== 'linux' || !isZombie(pid);
}

function isZombie(pid: number): boolean {
  try {
    // The state follows the name in parentheses. The name may contain any character, so this searches for the last `)
    // `.
    return fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.startsWith('Z') ?? true;
  } catch {
    return true;
  }
}

/**
 * The shell script of the guard. It reads lines that list the ids of all guarded processes. Its input ends when the
 * parent ends, even if the parent was killed. It then ends the guarded processes with SIGTERM, and those that hang with
 * SIGKILL.
 */
const guardScript = `
  while read -r line; do pids=$line; done
  [ "$pids" ] || exit 0
  kill -TERM $pids
  sleep 2
  kill -KILL $pids`;

const guarded = new Set<number>();
let guard: ChildProcess | undefined;

/**
 * Ends a child within 3 s after this process ends, even if this process was killed. The child cannot do that on its
 * own: Redis has no such option, and a Node process can hang. So a small shell process, the guard, outlives this
 * process and ends its children.
 */
export function endWithThisProcess(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  guarded.add(pid);
  tellGuard();
  child.once('exit', () => {
    guarded.delete(pid);
    tellGuard();
  });
}

function tellGuard(): void {
  guard ??= startGuard();
  guard.stdin?.write(`${[...guarded].join(' ')}\n`);
}

function startGuard(): ChildProcess {
  // The guard has its own process group, so that a Ctrl-C or a closed terminal does not end it.
  const started = spawn('sh', ['-c', guardScript], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  started.unref();
  (started.stdin as Socket).unref();
  started.stdin.on('error', () => {});
  started.once('exit', () => {
    guard = undefined;
  });
  return started;
}
