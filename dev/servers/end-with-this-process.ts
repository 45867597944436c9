import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/**
 * Reads lines that list the ids of all guarded processes. The input ends when the writing process ends, even if it was
 * killed. SIGKILL then ends children that hang.
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
 * Ends a child within 3 s after this process ends, however it ends. The child cannot do that itself: Redis has no such
 * option, and a Node process can hang. So a small shell process, the guard, outlives this process and ends its children.
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
  // In its own process group, so that a Ctrl-C or a closed terminal does not end it.
  const started = spawn('sh', ['-c', guardScript], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  started.unref();
  (started.stdin as Socket).unref();
  started.stdin.on('error', () => {});
  started.once('exit', () => {
    guard = undefined;
  });
  return started;
}
