import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { endWithThisProcess } from '../servers/end-with-this-process.ts';

const lookEveryMs = 1_000;

/**
 * Aborted by the first SIGINT, SIGTERM or SIGHUP, or when nobody reads the output any more. One that comes again, be it
 * from npm or from an impatient hand, changes nothing: what is running still has to be ended, which takes seconds at most.
 */
export function endSignal(): AbortSignal {
  const ending = new AbortController();
  const end = () => ending.abort();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
  // Without a listener, a closed pipe or terminal would end this process at once, before it has stopped the others.
  for (const output of [process.stdout, process.stderr]) output.on('error', end);
  onReaderGone(end);
  onNpmGone(end);
  return ending.signal;
}

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/**
 * Node notices a closed pipe only when it writes, and a quiet stack writes nothing. GNU tail watches its output and ends with
 * SIGPIPE; another tail does nothing, and then the next line tells.
 */
function onReaderGone(end: () => void): void {
  if (!fs.fstatSync(1).isFIFO()) return;
  const tail = spawn('tail', ['-f', '/dev/null'], { stdio: ['ignore', 'inherit', 'ignore'] });
  tail.unref();
  endWithThisProcess(tail);
  tail.on('error', () => {});
  tail.once('exit', (_code, signal) => signal === 'SIGPIPE' && end());
}

/** npm passes signals on, but when it is killed it cannot. */
function onNpmGone(end: () => void): void {
  const npm = process.ppid;
  if (!process.env.npm_lifecycle_event) return;
  setInterval(() => process.ppid !== npm && end(), lookEveryMs).unref();
}
