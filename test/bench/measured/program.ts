import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { Answer } from './ipc.ts';

const startMs = 30_000;
const stopMs = 15_000;

/** A process of the bench: a process of the service, a floor, the load or a receiver. */
export interface Program {
  name: string;
  pid: number;
  /** Its first message: a port, or `ready`. */
  ready: unknown;
  ask<T>(kind: string, options?: object): Promise<T>;
  /** Its CPU time so far, in microseconds. */
  cpuUs(): Promise<number>;
  stop(): Promise<void>;
}

export interface ProgramOptions {
  name: string;
  /** The folder of the compiled service and bench. */
  build: string;
  /** The path in that folder, such as `api/main.js`. */
  script: string;
  args?: string[];
  env: NodeJS.ProcessEnv;
  logDir: string;
}

/**
 * Starts a compiled program and waits until it reports that it is ready. If it ends unexpectedly, all open questions
 * reject.
 */
export async function startProgram(options: ProgramOptions): Promise<Program> {
  const { name, build } = options;
  const logFile = path.join(options.logDir, `${name}.log`);
  const log = fs.openSync(logFile, 'a');
  const preload = path.join(build, 'test/bench/measured/report-cpu.js');
  const child = spawn(
    process.execPath,
    ['--import', preload, path.join(build, options.script), ...(options.args ?? [])],
    {
      env: options.env,
      stdio: ['ignore', log, log, 'ipc'],
    },
  );
  fs.closeSync(log);
  const waiting = answersOf(child, () => new Error(`${name} ended: ${lastLine(logFile)}`));
  let lastId = 0;
  const ask = <T>(kind: string, question?: object): Promise<T> => {
    lastId += 1;
    const answered = waiting.for(lastId);
    child.send({ id: lastId, ask: kind, options: question }, (error) => error && waiting.fail(error));
    return answered as Promise<T>;
  };
  const ready = await waiting.ready();
  return {
    name,
    pid: child.pid ?? 0,
    ready,
    ask,
    async cpuUs() {
      const { user, system } = await ask<NodeJS.CpuUsage>('cpu');
      return user + system;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      const force = setTimeout(() => child.kill('SIGKILL'), stopMs);
      await exited;
      clearTimeout(force);
    },
  };
}

/** The open questions to a child process. All of them reject when it ends. */
function answersOf(child: ChildProcess, ended: () => Error) {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  const readyId = 0;
  const waitFor = (id: number) => new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
  const fail = (error: Error) => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  const ready = waitFor(readyId);
  const late = setTimeout(() => fail(new Error('a program did not start in time')), startMs);
  child.on('message', (message: Answer | 'ready' | { ready: unknown }) => {
    const { id, answer, error } =
      message === 'ready' || 'ready' in message
        ? { id: readyId, answer: message === 'ready' ? message : message.ready, error: undefined }
        : message;
    if (error) waiting.get(id)?.reject(new Error(error));
    else waiting.get(id)?.resolve(answer);
    waiting.delete(id);
  });
  child.once('exit', () => fail(ended()));
  child.once('error', fail);
  return { for: waitFor, fail, ready: () => ready.finally(() => clearTimeout(late)) };
}

/** The error with which a process has ended, else its last line. After an error, Node prints its own version. */
function lastLine(file: string): string {
  const lines = fs.readFileSync(file, 'utf8').trim().split('\n');
  return lines.findLast((line) => /^(\w+)?(Error|Refusal)\b/.test(line)) ?? lines.at(-1) ?? '';
}
