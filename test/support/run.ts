import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import path from 'node:path';

/**
 * Makes this process the main one of a run of tests, faults or measurements, of which nothing is left when it ends. All
 * processes of the run have their temporary files in a new folder, which this process removes when it exits.
 */
export function startRun(): void {
  const folder = runFolder();
  process.env.TMPDIR = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  endWithDescendants();
}

/** Prints a line of progress of a run of faults or measurements, with the time since its start. */
export function say(line: string): void {
  console.error(`${(performance.now() / 1_000).toFixed(1).padStart(7)} s  ${line}`);
}

/** Creates an empty folder that can serve as TMPDIR. The caller removes it. */
export function runFolder(): string {
  // The path of a socket in the folder has at most 107 bytes, and the temporary folder of macOS has a long path.
  const parent = process.platform === 'darwin' ? '/tmp' : tmpdir();
  const folder = mkdtempSync(path.join(parent, 'rides-'));
  // tsx keeps compiled files in the temporary folder. Without them, each run would compile everything again.
  const compiled = `tsx-${process.geteuid?.()}`;
  symlinkSync(path.join(tmpdir(), compiled), path.join(folder, compiled));
  return folder;
}

/**
 * At the first SIGINT, SIGTERM or SIGHUP, kills everything that this process has started, and exits with 128 and the
 * number of the signal. Nothing runs in between, because other listeners of these signals exit too.
 */
export function endWithDescendants(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      try {
        killDescendants();
      } finally {
        process.exit(128 + constants.signals[signal]);
      }
    });
  }
}

function killDescendants(): void {
  // A process that is about to start another one is paused first. Otherwise the new one would be missed.
  const paused = new Set<number>();
  for (;;) {
    const fresh = descendantsOf(process.pid).filter((pid) => !paused.has(pid));
    if (fresh.length === 0) break;
    for (const pid of fresh) {
      send('SIGSTOP', pid);
      paused.add(pid);
    }
  }
  for (const pid of paused) send('SIGKILL', pid);
}

/** The ids of all processes that a process has started, and of those that these have started. */
export function descendantsOf(ancestor: number): number[] {
  const { pid: ps, stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const pairs = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const found = [ancestor];
  for (const parent of found) {
    for (const [pid = 0, ppid] of pairs) if (ppid === parent && pid !== ps) found.push(pid);
  }
  return found.slice(1);
}

function send(signal: NodeJS.Signals, pid: number): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
