import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { endWithThisProcess } from '../servers/processes.ts';

const checkEveryMs = 1_000;

/**
 * A signal that aborts at the first SIGINT, SIGTERM or SIGHUP, or when the output is closed. Ignores further signals:
 * npm and users send them twice, and the stack still needs a few seconds to end its processes.
 */
export function endSignal(): AbortSignal {
  const ending = new AbortController();
  const end = () => ending.abort();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
  // Listens for errors of the output: without a listener, a closed pipe or terminal would end this process before it
  // has stopped its children.
  for (const output of [process.stdout, process.stderr]) output.on('error', end);
  onOutputClosed(end);
  onNpmExit(end);
  return ending.signal;
}

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/**
 * Calls `end` when the reader of a pipe has closed it. Node notices that only when it writes, and a quiet stack writes
 * nothing. So GNU tail watches the output: it ends with SIGPIPE when the pipe is closed. If `tail` is not GNU tail,
 * this process notices it only when it writes its next line.
 */
function onOutputClosed(end: () => void): void {
  if (!fs.fstatSync(1).isFIFO()) return;
  const tail = spawn('tail', ['-f', '/dev/null'], { stdio: ['ignore', 'inherit', 'ignore'] });
  tail.unref();
  endWithThisProcess(tail);
  tail.on('error', () => {});
  tail.once('exit', (_code, signal) => signal === 'SIGPIPE' && end());
}

/** Calls `end` when npm has ended, because a killed npm forwards no signal. */
function onNpmExit(end: () => void): void {
  const npm = process.ppid;
  if (!process.env.npm_lifecycle_event) return;
  setInterval(() => process.ppid !== npm && end(), checkEveryMs).unref();
}

/** Waits for `ms`. Resolves with false if the signal aborts first. */
export async function sleep(ms: number, signal: AbortSignal): Promise<boolean> {
  return setTimeout(ms, !signal.aborted, { signal }).catch(() => false);
}
