import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const graceMs = 5_000;

/** Where a Redis on `dataDir` writes its process id. */
export const pidFileOf = (dataDir: string) => path.join(dataDir, 'redis.pid');

/**
 * Ends the Redis that a killed run has left on `dataDir`. Process ids are reused, so the process must be a Redis or Valkey
 * whose working directory is this folder.
 */
export async function endStaleRedis(dataDir: string): Promise<void> {
  const pid = Number(await fs.readFile(pidFileOf(dataDir), 'utf8').catch(() => ''));
  if (!(pid > 1) || !(await isRedisOf(pid, dataDir))) return;
  process.kill(pid, 'SIGTERM');
  const deadline = Date.now() + graceMs;
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
