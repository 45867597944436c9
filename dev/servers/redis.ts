import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endWithThisProcess } from './end-with-this-process.ts';
import { onFreePort } from './ports.ts';
import { redisCommand } from './redis-command.ts';
import { endChild, exitOf, type RunningServer } from './running-server.ts';
import { endStaleRedis, pidFileOf } from './stale-redis.ts';

const stopGraceMs = 5_000;
const startMs = 20_000;

/**
 * `hz`: how many times a second Redis checks its timers. At its default of 10, jobs' timers are up to 0.1 s late. `args`: further
 * arguments, before the settings.
 */
export type RedisOptions = { dataDir: string; port?: number; appendonly?: boolean; hz?: number; args?: string[] };

/**
 * Starts a Redis for this process alone, on 127.0.0.1 and a free port unless one is given. First ends a Redis that a killed
 * run has left on the same `dataDir`.
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
    // In its own process group: a Ctrl-C must not end Redis before the API has finished its work.
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
    // Jobs are small hashes with texts over the default of 64 bytes. Kept compact, they take half the memory.
    // This is the setting's older name, which every version knows.
    'hash-max-ziplist-value': '1024',
  };
  return Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]);
}

/** Waits until this Redis has read its data and answers. Rejects if it has died. */
async function waitUntilItAnswers(port: number, child: ChildProcess, exited: Promise<string>, output: () => string) {
  const ended = exited.then((reason) => ({ reason }));
  const deadline = Date.now() + startMs;
  while (Date.now() < deadline) {
    const death = await Promise.race([ended, sleep(10)]);
    if (death) throw new Error(`Redis did not start on port ${port}: ${failureLine(output()) || death.reason}`);
    // Another server on this port would answer too: then ours could not bind the port and has died.
    if ((await ask(port, 'INFO server')).includes(`process_id:${child.pid}\r`)) return;
  }
  throw new Error(`Redis did not answer on port ${port} within ${startMs / 1000} s`);
}

function ask(port: number, command: string): Promise<string> {
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

/** The line that says why Redis failed, without its process id, time and level mark. */
function failureLine(output: string): string {
  const lines = output.trim().split('\n');
  const warning = lines.findLast((line) => /(fail|error|could not|can't|in use)/i.test(line));
  return (warning ?? lines.at(-1) ?? '').replace(/^\d+:\w .*? [#*.-] /, '');
}
