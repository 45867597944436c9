import fs from 'node:fs/promises';
import { osRelease } from './apt-sources.ts';
import { libraryDirs, type Say, unpackedPackages } from './debian-packages.ts';
import { nodeCommand } from './node-command.ts';

const neededGlibc = [2, 38] as const;
const need = 'the embedded MongoDB needs glibc 2.38 or later: set MONGO_URL to a MongoDB server';
/** Ubuntu comes first, because ID_LIKE names Debian on Ubuntu too. */
const newerReleases = { ubuntu: 'noble', debian: 'trixie' };
const loaders: Record<string, string> = { x64: 'ld-linux-x86-64.so.2', arm64: 'ld-linux-aarch64.so.1' };

/**
 * The command that runs a script with a C library new enough for the MongoDB engine. On an older system, the loader and the
 * C library come from a newer release of the distribution, fetched into the project's cache; all else is the system's.
 */
export async function engineCommand(script: string): Promise<string[]> {
  const node = nodeCommand(script);
  if (!needsNewerLibc()) return node;
  const libc = await newerLibc();
  const own = libraryDirs(libc);
  const loader = await firstExisting(own.map((dir) => `${dir}/${loaders[process.arch]}`));
  return [loader, '--library-path', [...own, ...libraryDirs('/')].join(':'), ...node];
}

/** Whether this system's C library is too old for the engine. Throws if it is not glibc. */
export function needsNewerLibc(): boolean {
  return process.platform === 'linux' && !isNewEnough(glibcVersion());
}

function glibcVersion(): string | undefined {
  const report = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  return report.header.glibcVersionRuntime;
}

function isNewEnough(version: string | undefined): boolean {
  if (!version) throw new Error(`${need} (this system has another C library)`);
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > neededGlibc[0] || (major === neededGlibc[0] && minor >= neededGlibc[1]);
}

/** The folder of the unpacked libc6 of a newer release of this distribution. Fetches it if it is missing. */
export async function newerLibc(say?: Say): Promise<string> {
  const { ID = '', ID_LIKE = '' } = await osRelease();
  const release = Object.entries(newerReleases).find(([family]) => `${ID} ${ID_LIKE}`.includes(family))?.[1];
  if (!release) throw new Error(`${need} (this system is neither Debian nor Ubuntu)`);
  return unpackedPackages(['libc6'], { release, say }).catch((error: Error) => {
    throw new Error(`${need} (${error.message})`, { cause: error });
  });
}

async function firstExisting(files: string[]): Promise<string> {
  for (const file of files) {
    const found = await fs.access(file).then(
      () => true,
      () => false,
    );
    if (found) return file;
  }
  throw new Error(`libc6 was fetched, but holds none of ${files.join(', ')}`);
}
