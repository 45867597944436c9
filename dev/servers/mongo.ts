import { type ChildProcess, spawn } from 'node:child_process';
import crypto from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import path from 'node:path';
import { endWithThisProcess } from './end-with-this-process.ts';
import { engineCommand } from './engine-command.ts';
import { endChild, exitOf, type RunningServer } from './running-server.ts';
import { contentsOf, namedTemporaryFolder } from './temporary-folder.ts';

const engineScript = path.join(import.meta.dirname, 'mongo-engine.ts');
const stopGraceMs = 10_000;
const longestSocketPath = 103; // macOS; Linux has 107
const attempts = 3;

/** `env` is added to the environment of the engine. */
export type MongoOptions = { dataDir: string; socketPath?: string; env?: NodeJS.ProcessEnv };

/**
 * Starts the embedded MongoDB engine on `dataDir`. The URL, which names the database `rides`, is the same at every start
 * with the same options, so that clients reconnect after the engine was killed.
 */
export async function startMongo(options: MongoOptions): Promise<RunningServer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startEngine(options);
    } catch (error) {
      // Another process may remove the folder for sockets that a killed one has left, just when it becomes this one's.
      if (attempt === attempts || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

async function startEngine(options: MongoOptions): Promise<RunningServer> {
  const dataDir = path.resolve(options.dataDir);
  await fs.mkdir(dataDir, { recursive: true });
  const [command = '', ...engine] = await engineCommand(engineScript);
  const runDir = await runDirOf(dataDir);
  const socketPath = options.socketPath ?? path.join(runDir, 'mongodb.sock');
  if (socketPath.length > longestSocketPath) throw new Error(`the socket path is too long: ${socketPath}`);

  const child = spawn(command, [...engine, dataDir, runDir], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { ...process.env, ...options.env },
  });
  endWithThisProcess(child);
  const exited = exitOf(child);
  let listensAt: string;
  try {
    listensAt = await listening(child, exited);
    await removeOldSockets(runDir, listensAt);
    await linkTo(socketPath, listensAt);
  } catch (error) {
    await endChild(child, exited, stopGraceMs);
    // The folder is not empty if another engine runs on this data.
    if ((await contentsOf(runDir)).length === 0) await fs.rm(runDir, { recursive: true, force: true });
    throw error;
  }

  const stop = async () => {
    await endChild(child, exited, stopGraceMs);
    // If this engine was killed, another one may have replaced it and use the folder.
    if ((await fs.readlink(socketPath).catch(() => undefined)) !== listensAt) return;
    await fs.rm(socketPath);
    await fs.rm(runDir, { recursive: true, force: true });
  };
  const url = `mongodb://${encodeURIComponent(socketPath)}/rides?directConnection=true`;
  return { url, pid: child.pid ?? 0, stop, exited };
}

/** A short path for sockets, the same at every start on one `dataDir`. */
function runDirOf(dataDir: string): Promise<string> {
  return namedTemporaryFolder(crypto.createHash('sha256').update(dataDir).digest('hex').slice(0, 10));
}

/** Removes the sockets of killed engines. The engine at `socketPath` holds the data's lock, so no other one is alive. */
async function removeOldSockets(runDir: string, socketPath: string): Promise<void> {
  const old = (await contentsOf(runDir)).filter((name) => name !== path.basename(path.dirname(socketPath)));
  for (const name of old) await fs.rm(path.join(runDir, name), { recursive: true, force: true });
}

async function listening(child: ChildProcess, exited: Promise<string>): Promise<string> {
  let complaint = '';
  child.stderr?.on('data', (chunk) => {
    complaint = (complaint + chunk).slice(-4000);
  });
  const ready = once(child, 'message').then(([message]) => message as { socketPath: string });
  const first = await Promise.race([ready, exited]);
  if (typeof first !== 'string') return first.socketPath;
  const line = complaint.trim().split('\n').at(-1);
  throw new Error(`MongoDB did not start: ${line || first}`);
}

/** Links a fixed path to the engine's socket, which has a new name at each start. */
async function linkTo(link: string, target: string): Promise<void> {
  const fresh = `${link}.new`;
  await fs.rm(fresh, { force: true });
  await fs.symlink(target, fresh);
  await fs.rename(fresh, link);
}
