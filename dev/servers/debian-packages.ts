import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { isAlive } from './alive.ts';
import { sourceOfRelease } from './apt-sources.ts';
import { endWithThisProcess } from './end-with-this-process.ts';

const run = promisify(execFile);

/** Called with a line of text that says what is being fetched. */
export type Say = (line: string) => void;

const cacheDir = path.join(import.meta.dirname, '..', '..', '.cache', 'debian');
/** The fetches that this process has begun, by folder: servers that start at the same time share one. */
const fetches = new Map<string, Promise<string>>();
const triplets: Record<string, string> = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' };

/**
 * Fetches packages with apt and unpacks them into a folder of the project's cache. Needs no root and installs nothing.
 * Without `release`, also fetches the dependencies that this machine lacks; with it, only the named packages of that
 * release. Resolves with the folder, which a later call reuses without fetching.
 */
export async function unpackedPackages(
  names: string[],
  { release, say = console.error }: { release?: string; say?: Say } = {},
): Promise<string> {
  const folder = path.join(cacheDir, [names.join('+'), release, process.arch].filter(Boolean).join('-'));
  if (await exists(folder)) return folder;
  const fetched = fetches.get(folder) ?? fetchInto(folder, names, release, say).finally(() => fetches.delete(folder));
  fetches.set(folder, fetched);
  return fetched;
}

async function fetchInto(folder: string, names: string[], release: string | undefined, say: Say): Promise<string> {
  await fs.mkdir(cacheDir, { recursive: true });
  await removeAbandoned();
  const work = await fs.mkdtemp(path.join(cacheDir, `fetching-${process.pid}-`));
  try {
    await download(work, names, release, say);
    await unpack(work);
    await moveInto(folder, path.join(work, 'root'));
    return folder;
  } catch (error) {
    throw new Error(`${names[0]} could not be fetched with apt: ${reasonOf(error)}`, { cause: error });
  } finally {
    await fs.rm(work, { recursive: true, force: true });
  }
}

/** The folders of unpacked packages that hold shared libraries, for the dynamic loader. */
export function libraryDirs(folder: string): string[] {
  const triplet = triplets[process.arch] ?? '';
  return [path.join(folder, 'usr/lib', triplet), path.join(folder, 'lib', triplet)];
}

async function download(work: string, names: string[], release: string | undefined, say: Say): Promise<void> {
  const archives = path.join(work, 'cache/archives');
  await fs.mkdir(path.join(work, 'state/lists/partial'), { recursive: true });
  await fs.mkdir(path.join(archives, 'partial'), { recursive: true });
  await fs.mkdir(path.join(work, 'sources.d'));
  await fs.writeFile(path.join(work, 'apt.conf'), aptConfig(work, release !== undefined));
  if (release) await fs.writeFile(path.join(work, 'sources.d/release.sources'), await sourceOfRelease(release));

  const apt = (...args: string[]) => {
    const running = run('apt-get', ['-c', path.join(work, 'apt.conf'), '-q', '-y', ...args], {
      cwd: archives,
      env: { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' },
      maxBuffer: 16 * 1024 * 1024,
    });
    endWithThisProcess(running.child);
    return running;
  };
  say(`reading the package lists of ${release ?? 'this system'} with apt (about 10 MB)`);
  // `update` succeeds even if a list could not be fetched. Its warning explains the failure that may follow.
  const { stderr: warnings } = await apt('update');
  // `download` ignores dependencies: packages of another release need not match the ones installed here.
  const command = release ? ['download'] : ['install', '--download-only', '--no-install-recommends', '--reinstall'];
  const withWarnings = (error: Error & { stderr: string }) => {
    throw Object.assign(error, { stderr: warnings + error.stderr });
  };
  const { stdout: list } = await apt(...command, '--print-uris', ...names).catch(withWarnings);
  say(`fetching ${namesAndSize(list)} into .cache/`);
  await apt(...command, ...names).catch(withWarnings);
}

/** Reads apt's list, which has a line `'URL' name_version_arch.deb bytes hash` for each package. */
function namesAndSize(list: string): string {
  const packages = [...list.matchAll(/^'[^']*' ([^_\s]+)_\S* (\d+)/gm)];
  const bytes = packages.reduce((sum, [, , size]) => sum + Number(size), 0);
  return `${packages.map(([, name]) => name).join(', ')} (${(bytes / 1e6).toFixed(1)} MB)`;
}

/** Makes apt write into `work` alone. The machine's own settings (proxies, mirrors, credentials) still apply. */
function aptConfig(work: string, ownSources: boolean): string {
  const lines = [
    `Dir::State "${work}/state";`,
    `Dir::Cache "${work}/cache";`,
    'Dir::Cache::archives "archives/";',
    'Acquire::Languages "none";',
    'Acquire::Retries "2";',
    // Without locks, apt needs no root and does not wait for another apt.
    'Debug::NoLocking "true";',
    // As root, apt would switch to a user who may not enter the project's folder.
    'APT::Sandbox::User "root";',
    // Container images add hooks here that clean the system's caches.
    '#clear APT::Update::Pre-Invoke;',
    '#clear APT::Update::Post-Invoke;',
    '#clear APT::Update::Post-Invoke-Success;',
    '#clear DPkg::Pre-Install-Pkgs;',
  ];
  if (ownSources) lines.push('Dir::Etc::sourcelist "/dev/null";', `Dir::Etc::sourceparts "${work}/sources.d";`);
  return `${lines.join('\n')}\n`;
}

async function unpack(work: string): Promise<void> {
  const archives = path.join(work, 'cache/archives');
  const packages = (await fs.readdir(archives)).filter((name) => name.endsWith('.deb'));
  if (packages.length === 0) throw new Error('apt downloaded nothing');
  for (const name of packages) await run('dpkg', ['-x', path.join(archives, name), path.join(work, 'root')]);
}

/** If another process has finished first, its folder is kept: it holds the same. */
async function moveInto(folder: string, unpacked: string): Promise<void> {
  await fs.rename(unpacked, folder).catch(async (error) => {
    if (!(await exists(folder))) throw error;
  });
}

async function removeAbandoned(): Promise<void> {
  for (const name of await fs.readdir(cacheDir)) {
    const folder = path.join(cacheDir, name);
    const pid = Number(name.match(/^fetching-(\d+)-/)?.[1]);
    if (pid && !isAlive(pid)) await fs.rm(folder, { recursive: true, force: true });
  }
}

/** In one line: apt's first warning or error, else the system's message. */
function reasonOf(error: unknown): string {
  const { code, stderr = '', message } = error as NodeJS.ErrnoException & { stderr?: string };
  if (code === 'ENOENT') return 'this system has no apt-get and dpkg';
  return stderr.match(/^[EW]: (.*)$/m)?.[1] ?? message.split('\n')[0] ?? message;
}

async function exists(file: string): Promise<boolean> {
  return fs.access(file).then(
    () => true,
    () => false,
  );
}
