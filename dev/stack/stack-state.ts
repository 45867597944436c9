import fs from 'node:fs/promises';
import path from 'node:path';
import { isAlive } from '../servers/processes.ts';

/** The folder with the data of each stack of `npm run dev`, by port. */
export const stacksDir = path.join(import.meta.dirname, '..', '..', '.cache', 'dev');

export type StackSettings = NodeJS.ProcessEnv & { SECRETS_KEY: string; SHUTDOWN_GRACE_MS: string };
/** The environment of a stack's services. */
export type StackEnv = StackSettings & { MONGO_URL: string; REDIS_URL: string };

/** A running stack, for the commands that use it. `env` holds secrets, so only the file's owner may read it. */
export type StackState = {
  pid: number;
  port: number;
  url: string;
  startedAt: string;
  /** The servers of MONGO_URL and REDIS_URL, for display; empty for the stack's own servers. */
  servers: { mongo: string; redis: string };
  env: StackEnv;
};

export const dataDirOf = (port: number): string => path.join(stacksDir, String(port));

const stateFile = (dataDir: string) => path.join(dataDir, 'stack.json');

export async function writeState(dataDir: string, state: StackState): Promise<void> {
  const fresh = `${stateFile(dataDir)}.new`;
  await fs.rm(fresh, { force: true });
  await fs.writeFile(fresh, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await fs.rename(fresh, stateFile(dataDir));
}

export async function removeState(dataDir: string): Promise<void> {
  await fs.rm(stateFile(dataDir), { force: true });
}

/** The running stacks, newest first. Ignores the files of killed stacks. */
export async function runningStacks(): Promise<StackState[]> {
  const folders = await fs.readdir(stacksDir).catch(() => []);
  const states = await Promise.all(folders.map((name) => readState(path.join(stacksDir, name))));
  return states
    .filter((state) => state !== undefined)
    .filter(({ pid }) => isAlive(pid))
    .sort((a, b) => b.startedAt.localeCompare(a.startedAt));
}

async function readState(dataDir: string): Promise<StackState | undefined> {
  try {
    return JSON.parse(await fs.readFile(stateFile(dataDir), 'utf8'));
  } catch {
    return undefined;
  }
}
