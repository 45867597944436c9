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
  /** The port of each process's metrics, by the process's name. */
  metricsPorts: Record<string, number>;
  /** All settings of the services. */
  env: StackEnv;
};

export const dataDirOf = (port: number): string => path.join(stacksDir, String(port));

const stateFile = (dataDir: string) => path.join(dataDir, 'stack.json');

/** The settings of a running stack, for `node --env-file`: a worker that is started with them joins the stack. */
export const workerEnvFile = (dataDir: string): string => path.join(dataDir, 'worker.env');

export async function writeState(dataDir: string, state: StackState): Promise<void> {
  await writeSecretly(workerEnvFile(dataDir), Object.entries(state.env).map(envLine).join(''));
  await writeSecretly(stateFile(dataDir), `${JSON.stringify(state, null, 2)}\n`);
}

const envLine = ([name, value = '']: [string, string | undefined]): string => {
  const quote = ["'", '"', '`'].find((mark) => !value.includes(mark)) ?? "'";
  return `${name}=${quote}${value}${quote}\n`;
};

async function writeSecretly(file: string, text: string): Promise<void> {
  const fresh = `${file}.new`;
  await fs.rm(fresh, { force: true });
  await fs.writeFile(fresh, text, { mode: 0o600, flag: 'wx' });
  await fs.rename(fresh, file);
}

export async function removeState(dataDir: string): Promise<void> {
  await Promise.all([stateFile, workerEnvFile].map((file) => fs.rm(file(dataDir), { force: true })));
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
