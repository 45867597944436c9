import type { ChildProcess } from 'node:child_process';

export interface RunningProcess {
  pid: number;
  /** Ends the process cleanly, or by force after a few seconds. May be called again. */
  stop(): Promise<void>;
  /** Resolves when the process has ended for any reason, with the reason in words. */
  exited: Promise<string>;
}

/** A server started for this process alone. */
export interface RunningServer extends RunningProcess {
  url: string;
}

/** Resolves with the reason in words when the process has ended or could not be started. */
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
