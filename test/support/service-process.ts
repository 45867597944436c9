import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { scaled } from './machine-speed.ts';

/** These limits only end a hang: a busy machine is many times slower than an idle one. */
const startMs = scaled(120_000);
const stopMs = scaled(60_000);

export type ServiceProcess = ReturnType<typeof serviceProcess>;

export interface ServiceProcessOptions {
  name: string;
  /** A file of the build without its ending, such as `api/main`. */
  script: string;
  /** A folder of `compileService`. Default: the build of this test run. */
  build?: string;
  args?: string[];
  /** Arguments of Node, before the script. */
  nodeArgs?: string[];
  /** The whole environment of the process, in addition to PATH. */
  env: NodeJS.ProcessEnv;
  /** The output of the process goes to `<logDir>/<name>.log`, to these file descriptors, or nowhere. */
  output?: { logDir: string } | { stdout: number; stderr: number };
  /** The limit of open files of the process (`ulimit -n`). */
  openFiles?: number;
  /** Called with every message of the process. */
  onMessage?(message: unknown): void;
}

/** The folder of the compiled service of this test run. Do not change it. */
export function testBuild(): string {
  const { TEST_BUILD } = process.env;
  if (!TEST_BUILD) throw new Error('outside of mocha, the option build is required');
  return TEST_BUILD;
}

/** A process of the service that can be killed, stopped and started again. */
export function serviceProcess(options: ServiceProcessOptions) {
  const crashes: string[] = [];
  let child: ChildProcess | undefined;
  let running = false;
  let isEndWanted = false;
  let ended = Promise.resolve('never started');

  const proc = (file: string): string => fs.readFileSync(`/proc/${child?.pid}/${file}`, 'utf8');
  return {
    name: options.name,
    /** The unexpected ends of the process, each with its signal or exit code. */
    crashes,
    /** The id of the running process, or of the last one. */
    get pid() {
      return child?.pid ?? 0;
    },
    get isRunning() {
      return running;
    },
    /** Starts the process, also after it has ended, and waits until it is ready. Rejects if it ends before that. */
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
      if (options.onMessage) started.on('message', options.onMessage);
      const timeout = AbortSignal.timeout(startMs);
      const late = new Promise<string>((resolve) => timeout.addEventListener('abort', () => resolve('no answer')));
      const failure = await Promise.race([ready, ended, late]);
      if (failure) throw new Error(`${options.name} did not start (${failure}): ${lastLineOf(options)}`);
    },
    /** Resolves when the running process has ended, with its signal or its exit code (`code 0`). */
    ended: () => ended,
    /** Sends SIGKILL synchronously. Resolves when the process has ended. */
    async kill() {
      isEndWanted = true;
      child?.kill('SIGKILL');
      await ended;
    },
    /**
     * Ends the process with a signal, or with SIGKILL if it still runs after `graceMs`. Resolves with its signal or exit
     * code, and with the time that this took.
     */
    async stop({ signal = 'SIGTERM' as NodeJS.Signals, graceMs = stopMs } = {}) {
      isEndWanted = true;
      const askedAt = performance.now();
      child?.kill(signal);
      const force = setTimeout(() => child?.kill('SIGKILL'), graceMs);
      const how = await ended;
      clearTimeout(force);
      return { how, ms: Math.round(performance.now() - askedAt) };
    },
    signal: (signal: NodeJS.Signals) => void child?.kill(signal),
    /** Sends a message to the process. Rejects if it has ended. */
    send: (message: object) =>
      new Promise<void>((resolve, reject) => {
        child?.send(message, (error) => (error ? reject(error) : resolve()));
      }),
    /** Resident memory in bytes, from Linux's /proc. */
    residentBytes: () => Number(/VmRSS:\s+(\d+)/.exec(proc('status'))?.[1]) * 1_024,
    /** CPU time so far, in ms. */
    cpuMs: () => {
      // The fields follow the name in parentheses. User and system time are in hundredths of a second.
      const fields = proc('stat').split(') ').at(-1)?.split(' ') ?? [];
      return (Number(fields[11]) + Number(fields[12])) * 10;
    },
  };
}

/** The error with which a process has ended, else its last line. After an error, Node prints its own version. */
export function lastLineOf({ name, output }: Pick<ServiceProcessOptions, 'name' | 'output'>): string {
  if (!output || !('logDir' in output)) return 'see its output';
  const lines = fs
    .readFileSync(path.join(output.logDir, `${name}.log`), 'utf8')
    .trim()
    .split('\n');
  return lines.findLast((line) => /^(\w+)?(Error|Refusal)\b/.test(line)) ?? lines.at(-1) ?? '';
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

/** Kills the child when this process ends for any reason. */
function endWithParent(child: ChildProcess, ended: Promise<unknown>): void {
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  process.setMaxListeners(0);
  void ended.then(() => process.removeListener('exit', kill));
}
