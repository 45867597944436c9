import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { endWithThisProcess, isAlive } from './processes.ts';

const run = promisify(execFile);

/** Called with a line of text about each download. */
export type Say = (line: string) => void;

const cacheDir = path.join(import.meta.dirname, '..', '..', '.cache', 'debian');
/** The running downloads of this process, by folder. Servers that start at the same time share them. */
const runningDownloads = new Map<string, Promise<string>>();
const triplets: Record<string, string> = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' };

/**
 * Downloads packages with apt and unpacks them into a folder of the project's cache. Needs no root privileges and
 * installs nothing. Without `release`, also downloads the dependencies that this machine lacks; with `release`,
 * downloads only the named packages of that release. Resolves with the folder. Later calls reuse it without a download.
 */
export async function unpackedPackages(
  names: string[],
  { release, say = console.error }: { release?: string; say?: Say } = {},
): Promise<string> {
  const folder = path.join(cacheDir, [names.join('+'), release, process.arch].filter(Boolean).join('-'));
  if (existsSync(folder)) return folder;
  const fetched =
    runningDownloads.get(folder) ??
    fetchInto(folder, names, release, say).finally(() => runningDownloads.delete(folder));
  runningDownloads.set(folder, fetched);
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
    throw new Error(`${names[0]} could not be downloaded with apt: ${reasonOf(error)}`, { cause: error });
  } finally {
    await fs.rm(work, { recursive: true, force: true });
  }
}

/** The folders with shared libraries in unpacked packages, for the dynamic loader. */
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
  // Keeps the warnings, because `update` succeeds even if a list could not be downloaded. Its warning then explains the
  // failure that follows.
  const { stderr: warnings } = await apt('update');
  // `download` ignores dependencies: packages of another release need not match the ones installed here.
  const command = release ? ['download'] : ['install', '--download-only', '--no-install-recommends', '--reinstall'];
  const withWarnings = (error: Error & { stderr: string }) => {
    throw Object.assign(error, { stderr: warnings + error.stderr });
  };
  const { stdout: list } = await apt(...command, '--print-uris', ...names).catch(withWarnings);
  say(`downloading ${namesAndSize(list)} into .cache/`);
  await apt(...command, ...names).catch(withWarnings);
}

/** Reads apt's list, which has a line `'URL' name_version_arch.deb bytes hash` for each package. */
function namesAndSize(list: string): string {
  const packages = [...list.matchAll(/^'[^']*' ([^_\s]+)_\S* (\d+)/gm)];
  const bytes = packages.reduce((sum, [, , size]) => sum + Number(size), 0);
  return `${packages.map(([, name]) => name).join(', ')} (${(bytes / 1e6).toFixed(1)} MB)`;
}

/** Makes apt write only into `work`. The machine's own settings (proxies, mirrors, credentials) still apply. */
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
    // Removes hooks that container images add to clean the caches of the system.
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

/**
 * Moves the unpacked files to their folder. If another process has finished first, keeps that process's folder, which
 * has the same contents.
 */
async function moveInto(folder: string, unpacked: string): Promise<void> {
  await fs.rename(unpacked, folder).catch((error) => {
    if (!existsSync(folder)) throw error;
  });
}

async function removeAbandoned(): Promise<void> {
  for (const name of await fs.readdir(cacheDir)) {
    const folder = path.join(cacheDir, name);
    const pid = Number(name.match(/^fetching-(\d+)-/)?.[1]);
    if (pid && !isAlive(pid)) await fs.rm(folder, { recursive: true, force: true });
  }
}

/** The reason in one line: apt's first warning or error, or the system's message. */
function reasonOf(error: unknown): string {
  const { code, stderr = '', message } = error as NodeJS.ErrnoException & { stderr?: string };
  if (code === 'ENOENT') return 'this system lacks apt-get or dpkg';
  return stderr.match(/^[EW]: (.*)$/m)?.[1] ?? message.split('\n')[0] ?? message;
}

/** One entry of apt's sources, with the field names of its deb822 format. */
type AptSource = { uris: string; suites: string; components: string; signedBy?: string; trusted?: string };

/** An entry in deb822 format for another release of the distribution, from the archive that this machine uses. */
async function sourceOfRelease(suite: string): Promise<string> {
  const own = await ownArchive();
  const lines = ['Types: deb', `URIs: ${own.uris}`, `Suites: ${suite}`, 'Components: main'];
  if (own.signedBy) lines.push(`Signed-By: ${own.signedBy}`);
  if (own.trusted) lines.push(`Trusted: ${own.trusted}`);
  return `${lines.join('\n')}\n`;
}

/** The values of /etc/os-release; empty on a system without one. */
export async function osRelease(): Promise<Record<string, string>> {
  const text = await fs.readFile('/etc/os-release', 'utf8').catch(() => '');
  const values: Record<string, string> = {};
  for (const [, key = '', value = ''] of text.matchAll(/^([A-Z_]+)="?(.*?)"?$/gm)) values[key] = value;
  return values;
}

/** The distribution's main archive, not its security updates or third-party packages. */
async function ownArchive(): Promise<AptSource> {
  const release = await osRelease();
  const names = new Set([release.VERSION_CODENAME, release.UBUNTU_CODENAME, release.DEBIAN_CODENAME]);
  for (const alias of ['stable', 'oldstable', 'testing', 'unstable', 'sid']) names.add(alias);
  const own = (await readSources()).find((source) => source.suites.split(/\s+/).some((suite) => names.has(suite)));
  if (!own) throw new Error('no apt source of this release was found under /etc/apt');
  return own;
}

async function readSources(): Promise<AptSource[]> {
  const folder = '/etc/apt/sources.list.d';
  const names = await fs.readdir(folder).catch(() => []);
  const sources: AptSource[] = [];
  for (const file of ['/etc/apt/sources.list', ...names.sort().map((name) => path.join(folder, name))]) {
    const text = await fs.readFile(file, 'utf8').catch(() => '');
    if (file.endsWith('.sources')) sources.push(...parseDeb822(text));
    else if (file.endsWith('.list')) sources.push(...parseOneLineSource(text));
  }
  return sources;
}

/**
 * Parses the newer format of sources: stanzas of `Field: value`, where a line that starts with a space or tab continues
 * the value.
 */
export function parseDeb822(text: string): AptSource[] {
  const withoutComments = text.replace(/^#.*\n?/gm, '');
  return withoutComments.split(/\n\s*\n/).flatMap((stanza) => {
    const fields: Record<string, string> = {};
    for (const [, name = '', value = ''] of stanza.matchAll(/^([\w-]+):[ \t]*((?:.*)(?:\n[ \t]+.*)*)/gm)) {
      fields[name.toLowerCase()] = value.trimEnd();
    }
    const { types = '', uris, suites, components = '', enabled = 'yes' } = fields;
    if (!types.split(/\s+/).includes('deb') || !uris || !suites || enabled.toLowerCase() === 'no') return [];
    return [{ uris, suites, components, signedBy: fields['signed-by'], trusted: fields.trusted }];
  });
}

/** Parses the older format of sources: `deb [signed-by=/a/key.gpg] http://archive/ suite component component`. */
export function parseOneLineSource(text: string): AptSource[] {
  const lines = text.matchAll(/^[ \t]*deb[ \t]+(?:\[([^\]]*)\][ \t]+)?(\S+)[ \t]+(\S+)[ \t]*([^#\n]*)/gm);
  return [...lines].map(([, options = '', uris = '', suites = '', components = '']) => ({
    uris,
    suites,
    components: components.trim(),
    signedBy: options.match(/signed-by=(\S+)/i)?.[1]?.replaceAll(',', ' '),
    trusted: options.match(/trusted=(\S+)/i)?.[1],
  }));
}
