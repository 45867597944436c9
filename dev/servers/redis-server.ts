import { type ChildProcess, execFile, spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { libraryDirs, type Say, unpackedPackages } from './debian-packages.ts';
import { onFreePort } from './ports.ts';
import { endChild, endWithThisProcess, exitOf, type RunningServer } from './processes.ts';

const stopGraceMs = 5_000;
const startTimeoutMs = 20_000;

/**
 * `hz`: how often Redis checks its timers per second. At its default of 10, the timers of jobs are up to 0.1 s late.
 * `args`: additional arguments, which precede the settings.
 */
export type RedisOptions = { dataDir: string; port?: number; appendonly?: boolean; hz?: number; args?: string[] };

/**
 * Starts a Redis for this process only, on 127.0.0.1 and on the given or a free port. Before that, ends the Redis of a
 * killed run on the same `dataDir`.
 */
export async function startRedis(options: RedisOptions): Promise<RunningServer> {
  const dataDir = path.resolve(options.dataDir);
  await fs.mkdir(dataDir, { recursive: true });
  await endStaleRedis(dataDir);
  if (options.port) return startOn(options.port, { ...options, dataDir });
  return onFreePort((port) => startOn(port, { ...options, dataDir }));
}

async function startOn(port: number, options: RedisOptions): Promise<RunningServer> {
  const { file, env } = await redisCommand();
  const child = spawn(file, [...(options.args ?? []), ...settings(port, options)], {
    cwd: options.dataDir,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Redis has its own process group, because a Ctrl-C must not end it before the API has finished its work.
    detached: true,
  });
  endWithThisProcess(child);
  const output = lastOutput(child);
  const exited = exitOf(child);
  const stop = () => endChild(child, exited, stopGraceMs);
  try {
    await waitUntilItAnswers(port, child, exited, output);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `redis://127.0.0.1:${port}`, pid: child.pid ?? 0, stop, exited };
}

function settings(port: number, { dataDir, appendonly = false, hz = 100 }: RedisOptions): string[] {
  const values = {
    port: String(port),
    bind: '127.0.0.1',
    'protected-mode': 'yes',
    dir: dataDir,
    pidfile: pidFileOf(dataDir),
    daemonize: 'no',
    save: '',
    appendonly: appendonly ? 'yes' : 'no',
    'maxmemory-policy': 'noeviction',
    hz: String(hz),
    // Jobs are small hashes with values over the default limit of 64 bytes. With a higher limit, Redis uses a compact
    // format, which halves their memory. This is the setting's older name, which every version knows.
    'hash-max-ziplist-value': '1024',
  };
  return Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]);
}

/** Waits until this Redis has read its data and answers. Rejects if it has died. */
async function waitUntilItAnswers(port: number, child: ChildProcess, exited: Promise<string>, output: () => string) {
  const ended = exited.then((reason) => ({ reason }));
  const deadline = Date.now() + startTimeoutMs;
  while (Date.now() < deadline) {
    const death = await Promise.race([ended, sleep(10)]);
    if (death) throw new Error(`Redis did not start on port ${port}: ${failureLine(output()) || death.reason}`);
    // If another server on this port answers, ours could not bind the port and has died.
    if ((await sendCommand(port, 'INFO server')).includes(`process_id:${child.pid}\r`)) return;
  }
  throw new Error(`Redis did not answer on port ${port} within ${startTimeoutMs / 1000} s`);
}

function sendCommand(port: number, command: string): Promise<string> {
  return new Promise((resolve) => {
    let reply = '';
    const socket = net.connect(port, '127.0.0.1', () => socket.end(`${command}\r\n`));
    socket.setTimeout(1_000, () => socket.destroy());
    socket.on('data', (chunk) => {
      reply += chunk;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(reply));
  });
}

function lastOutput(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      text = (text + chunk).slice(-4_000);
    });
  }
  return () => text;
}

/** The line of the output with the reason for the failure, without process id, time and level mark. */
function failureLine(output: string): string {
  const lines = output.trim().split('\n');
  const warning = lines.findLast((line) => /(fail|error|could not|can't|in use)/i.test(line));
  return (warning ?? lines.at(-1) ?? '').replace(/^\d+:\w .*? [#*.-] /, '');
}

/** A program, and the environment variables to add for it. */
type Command = { file: string; env: NodeJS.ProcessEnv };

/** The machine's `redis-server` or `valkey-server`, or a `redis-server` downloaded into the project's cache. */
export async function redisCommand(say?: Say): Promise<Command> {
  for (const dir of (process.env.PATH ?? '').split(path.delimiter)) {
    for (const name of ['redis-server', 'valkey-server']) {
      const file = path.join(dir, name);
      if (await isExecutable(file)) return { file, env: {} };
    }
  }
  try {
    // Debian's redis-server is a link into the package redis-tools.
    const folder = await unpackedPackages(['redis-server', 'redis-tools'], { say });
    const LD_LIBRARY_PATH = libraryDirs(folder).join(':');
    return { file: path.join(folder, 'usr/bin/redis-server'), env: { LD_LIBRARY_PATH } };
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(`install redis-server or valkey-server, or set REDIS_URL (${reason})`, { cause: error });
  }
}

async function isExecutable(file: string): Promise<boolean> {
  return fs.access(file, fs.constants.X_OK).then(
    () => true,
    () => false,
  );
}

const staleGraceMs = 5_000;

/** The file to which a Redis on `dataDir` writes its process id. */
const pidFileOf = (dataDir: string) => path.join(dataDir, 'redis.pid');

/**
 * Ends the Redis of a killed run on `dataDir`. Process ids are reused, so it ends only a Redis or Valkey whose working
 * directory is this folder.
 */
export async function endStaleRedis(dataDir: string): Promise<void> {
  const pid = Number(await fs.readFile(pidFileOf(dataDir), 'utf8').catch(() => ''));
  if (!(pid > 1) || !(await isRedisOf(pid, dataDir))) return;
  process.kill(pid, 'SIGTERM');
  const deadline = Date.now() + staleGraceMs;
  while (await isRedisOf(pid, dataDir)) {
    if (Date.now() > deadline) process.kill(pid, 'SIGKILL');
    await sleep(20);
  }
}

async function isRedisOf(pid: number, dataDir: string): Promise<boolean> {
  try {
    const [name, cwd] = process.platform === 'linux' ? await fromProc(pid) : await fromLsof(pid);
    return /^(redis|valkey)/.test(name) && cwd === (await fs.realpath(dataDir));
  } catch {
    return false;
  }
}

async function fromProc(pid: number): Promise<[name: string, cwd: string]> {
  return [await fs.readFile(`/proc/${pid}/comm`, 'utf8'), await fs.readlink(`/proc/${pid}/cwd`)];
}

async function fromLsof(pid: number): Promise<[name: string, cwd: string]> {
  const { stdout } = await promisify(execFile)('lsof', ['-a', '-p', String(pid), '-d', 'cwd', '-Fcn']);
  return [stdout.match(/^c(.*)$/m)?.[1] ?? '', stdout.match(/^n(.*)$/m)?.[1] ?? ''];
}
