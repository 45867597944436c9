import { type ChildProcess, spawn } from 'node:child_process';
import crypto from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { libraryDirs, osRelease, type Say, unpackedPackages } from './debian-packages.ts';
import { endChild, endWithThisProcess, exitOf, nodeCommand, type RunningServer } from './processes.ts';
import { contentsOf, namedTemporaryFolder } from './temporary-folder.ts';

const engineScript = path.join(import.meta.dirname, 'mongo-engine.ts');
const stopGraceMs = 10_000;
const longestSocketPath = 103; // macOS; Linux has 107
const attempts = 3;

/** `env` is added to the environment of the engine's process. */
type MongoOptions = { dataDir: string; socketPath?: string; env?: NodeJS.ProcessEnv };

/**
 * Starts the embedded MongoDB engine on `dataDir`. The URL, which names the database `rides`, is the same at every
 * start with the same options, so that clients can reconnect after the engine was killed.
 */
export async function startMongo(options: MongoOptions): Promise<RunningServer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startEngine(options);
    } catch (error) {
      // Another process may remove the socket folder of a killed engine just when this one reuses it.
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
    listensAt = await waitForSocketPath(child, exited);
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
    // Keeps the folder if this engine was killed and another one, which replaced it, uses the folder now.
    if ((await fs.readlink(socketPath).catch(() => undefined)) !== listensAt) return;
    await fs.rm(socketPath);
    await fs.rm(runDir, { recursive: true, force: true });
  };
  const url = `mongodb://${encodeURIComponent(socketPath)}/rides?directConnection=true`;
  return { url, pid: child.pid ?? 0, stop, exited };
}

/** A short path for sockets, which is the same at every start with the same `dataDir`. */
function runDirOf(dataDir: string): Promise<string> {
  return namedTemporaryFolder(crypto.createHash('sha256').update(dataDir).digest('hex').slice(0, 10));
}

/** Removes the sockets of killed engines. Only the engine at `socketPath` can be alive, because it locks the data. */
async function removeOldSockets(runDir: string, socketPath: string): Promise<void> {
  const old = (await contentsOf(runDir)).filter((name) => name !== path.basename(path.dirname(socketPath)));
  for (const name of old) await fs.rm(path.join(runDir, name), { recursive: true, force: true });
}

async function waitForSocketPath(child: ChildProcess, exited: Promise<string>): Promise<string> {
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

const neededGlibc = [2, 38] as const;
const glibcRequirement = 'the embedded MongoDB needs glibc 2.38 or later: set MONGO_URL to a MongoDB server';
/** Ubuntu comes first, because ID_LIKE names Debian on Ubuntu too. */
const newerReleases = { ubuntu: 'noble', debian: 'trixie' };
const loaders: Record<string, string> = { x64: 'ld-linux-x86-64.so.2', arm64: 'ld-linux-aarch64.so.1' };

/**
 * The command that runs a script with a C library new enough for the MongoDB engine. On an older system, it downloads
 * the loader and the C library of a newer release into the project's cache; everything else comes from the system.
 */
async function engineCommand(script: string): Promise<string[]> {
  const node = nodeCommand(script);
  if (!needsNewerLibc()) return node;
  const libc = await newerLibc();
  const own = libraryDirs(libc);
  const files = own.map((dir) => `${dir}/${loaders[process.arch]}`);
  const loader = files.find((file) => existsSync(file));
  if (!loader) throw new Error(`the downloaded libc6 contains none of ${files.join(', ')}`);
  return [loader, '--library-path', [...own, ...libraryDirs('/')].join(':'), ...node];
}

/** True if this system's C library is too old for the engine. Throws if it is not glibc. */
export function needsNewerLibc(): boolean {
  return process.platform === 'linux' && !isNewEnough(glibcVersion());
}

function glibcVersion(): string | undefined {
  const report = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  return report.header.glibcVersionRuntime;
}

function isNewEnough(version: string | undefined): boolean {
  if (!version) throw new Error(`${glibcRequirement} (this system has another C library)`);
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > neededGlibc[0] || (major === neededGlibc[0] && minor >= neededGlibc[1]);
}

/** The folder of the unpacked libc6 of a newer release of this distribution. Downloads it if it is missing. */
export async function newerLibc(say?: Say): Promise<string> {
  const { ID = '', ID_LIKE = '' } = await osRelease();
  const release = Object.entries(newerReleases).find(([family]) => `${ID} ${ID_LIKE}`.includes(family))?.[1];
  if (!release) throw new Error(`${glibcRequirement} (this system is neither Debian nor Ubuntu)`);
  return unpackedPackages(['libc6'], { release, say }).catch((error: Error) => {
    throw new Error(`${glibcRequirement} (${error.message})`, { cause: error });
  });
}
