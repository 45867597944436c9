import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { isAlive } from './alive.ts';
import { sourceOfRelease } from './apt-sources.ts';
import { endWithThisProcess } from './end-with-this-process.ts';

const run = promisify(execFile);

/** Is told, in a line, what is being fetched. */
export type Say = (line: string) => void;

const cacheDir = path.join(import.meta.dirname, '..', '..', '.cache', 'debian');
const triplets: Record<string, string> = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' };

/**
 * Fetches packages with apt and unpacks them into one folder of the project's cache: no root, nothing installed.
 * Without `release` the packages this machine lacks for them come along; with it, exactly the named ones of that release.
 * The folder of an earlier call is returned as it is, and nothing is fetched.
 */
export async function unpackedPackages(
  names: string[],
  { release, say = console.error }: { release?: string; say?: Say } = {},
): Promise<string> {
  const folder = path.join(cacheDir, [names.join('+'), release, process.arch].filter(Boolean).join('-'));
  if (await exists(folder)) return folder;
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

/** The folders of an unpacked package in which the dynamic loader finds its shared libraries. */
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
  // It succeeds also where a list could not be fetched, with a warning that explains the failure that may follow.
  const { stderr: warnings } = await apt('update');
  // The packages of another release are not meant to agree with the ones installed here, so nothing is resolved.
  const command = release ? ['download'] : ['install', '--download-only', '--no-install-recommends', '--reinstall'];
  const withWarnings = (error: Error & { stderr: string }) => {
    throw Object.assign(error, { stderr: warnings + error.stderr });
  };
  const { stdout: list } = await apt(...command, '--print-uris', ...names).catch(withWarnings);
  say(`fetching ${namesAndSize(list)} into .cache/`);
  await apt(...command, ...names).catch(withWarnings);
}

/** From apt's list, which has a line `'URL' name_version_arch.deb bytes hash` for each package. */
function namesAndSize(list: string): string {
  const packages = [...list.matchAll(/^'[^']*' ([^_\s]+)_\S* (\d+)/gm)];
  const bytes = packages.reduce((sum, [, , size]) => sum + Number(size), 0);
  return `${packages.map(([, name]) => name).join(', ')} (${(bytes / 1e6).toFixed(1)} MB)`;
}

/** Everything that apt writes goes into `work`; what this machine sets (proxies, mirrors, credentials) stays in force. */
function aptConfig(work: string, ownSources: boolean): string {
  const lines = [
    `Dir::State "${work}/state";`,
    `Dir::Cache "${work}/cache";`,
    'Dir::Cache::archives "archives/";',
    'Acquire::Languages "none";',
    'Acquire::Retries "2";',
    // A download locks nothing of the system, so it needs no root, and waits for no other apt.
    'Debug::NoLocking "true";',
    // As root, apt would drop to a user who may not enter the project's folder.
    'APT::Sandbox::User "root";',
    // What a container image hooks in here cleans up the system's own caches.
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

/** Another process may have finished first: then its folder, which holds the same, is kept. */
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

/** One line: the first thing that apt warned of or failed at, else what the system said. */
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
