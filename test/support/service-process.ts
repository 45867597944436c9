import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** Both only end a hang: a busy machine takes many times longer than an idle one. */
const startMs = 120_000;
const stopMs = 60_000;

export interface ServiceProcess {
  readonly name: string;
  /** Of the process that runs now, or ran last. */
  readonly pid: number;
  readonly isRunning: boolean;
  /** Ends of the process that this object did not ask for, each with its signal or exit code. */
  readonly crashes: readonly string[];
  /** Starts it (again) and waits until it serves. Rejects where it ends before. */
  start(): Promise<void>;
  /** Resolves when the process that runs now has ended, with its signal or its exit code (`code 0`). */
  ended(): Promise<string>;
  /** Ends it with SIGKILL, in this very tick, and resolves when it is gone. */
  kill(): Promise<void>;
  /** Asks it to end; after `graceMs` it is killed. Resolves with how it ended and after how many ms. */
  stop(options?: { signal?: NodeJS.Signals; graceMs?: number }): Promise<{ how: string; ms: number }>;
  signal(signal: NodeJS.Signals): void;
  /** Resident memory in bytes, of Linux's /proc. */
  residentBytes(): number;
  /** What it has used of the CPU so far, in ms. */
  cpuMs(): number;
}

export interface ServiceProcessOptions {
  name: string;
  script: 'api/main' | 'workers/main';
  /** A folder of `compileService`, else the one of this run of tests. */
  build?: string;
  args?: string[];
  /** Given to Node before the script. */
  nodeArgs?: string[];
  /** All that it sees of an environment, beside PATH. */
  env: NodeJS.ProcessEnv;
  /** What it prints goes to `<logDir>/<name>.log`, to these file descriptors, or nowhere. */
  output?: { logDir: string } | { stdout: number; stderr: number };
  /** The limit of open files that it starts with (`ulimit -n`). */
  openFiles?: number;
}

/** The compiled service of this run of tests. Nobody changes it. */
export function testBuild(): string {
  const { TEST_BUILD } = process.env;
  if (!TEST_BUILD) throw new Error('outside of mocha a build has to be given');
  return TEST_BUILD;
}

/** A process of the service, that can be ended in every way and started again. */
export function serviceProcess(options: ServiceProcessOptions): ServiceProcess {
  const crashes: string[] = [];
  let child: ChildProcess | undefined;
  let running = false;
  let isEndWanted = false;
  let ended = Promise.resolve('never started');

  const proc = (file: string): string => fs.readFileSync(`/proc/${child?.pid}/${file}`, 'utf8');
  return {
    name: options.name,
    crashes,
    get pid() {
      return child?.pid ?? 0;
    },
    get isRunning() {
      return running;
    },
    async start() {
      const started = spawnService(options);
      child = started;
      running = true;
      isEndWanted = false;
      ended = new Promise((resolve) => {
        started.once('exit', (code, signal) => {
          running = false;
          const how = signal ?? `code ${code}`;
          if (!isEndWanted) crashes.push(how);
          resolve(how);
        });
      });
      endWithParent(started, ended);
      const ready = new Promise<undefined>((resolve) => {
        started.on('message', (message) => message === 'ready' && resolve(undefined));
      });
      const timeout = AbortSignal.timeout(startMs);
      const late = new Promise<string>((resolve) => timeout.addEventListener('abort', () => resolve('no answer')));
      const failure = await Promise.race([ready, ended, late]);
      if (failure) throw new Error(`${options.name} did not start (${failure}): see what it printed`);
    },
    ended: () => ended,
    async kill() {
      isEndWanted = true;
      child?.kill('SIGKILL');
      await ended;
    },
    async stop({ signal = 'SIGTERM', graceMs = stopMs } = {}) {
      isEndWanted = true;
      const askedAt = performance.now();
      child?.kill(signal);
      const force = setTimeout(() => child?.kill('SIGKILL'), graceMs);
      const how = await ended;
      clearTimeout(force);
      return { how, ms: Math.round(performance.now() - askedAt) };
    },
    signal: (signal) => void child?.kill(signal),
    residentBytes: () => Number(/VmRSS:\s+(\d+)/.exec(proc('status'))?.[1]) * 1_024,
    cpuMs: () => {
      // The fields stand after the name in parentheses: user and system time, in hundredths of a second.
      const fields = proc('stat').split(') ').at(-1)?.split(' ') ?? [];
      return (Number(fields[11]) + Number(fields[12])) * 10;
    },
  };
}

function spawnService({ build, script, name, args = [], nodeArgs = [], env, ...options }: ServiceProcessOptions) {
  const node = [process.execPath, ...nodeArgs, path.join(build ?? testBuild(), `${script}.js`), ...args];
  const limited = ['bash', '-c', `ulimit -n ${options.openFiles} && exec "$@"`, 'bash', ...node];
  const [command = '', ...rest] = options.openFiles ? limited : node;
  const { output } = options;
  const log = output && 'logDir' in output ? fs.openSync(path.join(output.logDir, `${name}.log`), 'a') : undefined;
  const { stdout, stderr } = output && 'stdout' in output ? output : { stdout: log, stderr: log };
  const stdio: StdioOptions = ['ignore', stdout ?? 'ignore', stderr ?? 'ignore', 'ipc'];
  const child = spawn(command, rest, { env: { PATH: process.env.PATH, ...env }, stdio });
  if (log !== undefined) fs.closeSync(log);
  return child;
}

/** Kills the child when this process ends, however it ends. */
function endWithParent(child: ChildProcess, ended: Promise<unknown>): void {
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  process.setMaxListeners(0);
  void ended.then(() => process.removeListener('exit', kill));
}
