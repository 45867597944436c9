import fs from 'node:fs/promises';
import { osRelease } from './apt-sources.ts';
import { libraryDirs, unpackedPackages } from './debian-packages.ts';
import { nodeCommand } from './node-command.ts';

const neededGlibc = [2, 38] as const;
const loaders: Record<string, string> = { x64: 'ld-linux-x86-64.so.2', arm64: 'ld-linux-aarch64.so.1' };

/**
 * The command that runs a script under a C library new enough for the MongoDB engine. On an older system, that is the
 * loader and library of a newer release of it, fetched into the project's cache, with everything else from the system.
 */
export async function engineCommand(script: string, args: string[]): Promise<string[]> {
  const node = nodeCommand(script, args);
  if (process.platform !== 'linux' || isNewEnough(glibcVersion())) return node;
  const libc = await unpackedPackages(['libc6'], await newerRelease());
  const own = libraryDirs(libc);
  const loader = await firstExisting(own.map((dir) => `${dir}/${loaders[process.arch]}`));
  return [loader, '--library-path', [...own, ...libraryDirs('/')].join(':'), ...node];
}

function glibcVersion(): string | undefined {
  const report = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  return report.header.glibcVersionRuntime;
}

function isNewEnough(version: string | undefined): boolean {
  if (!version) throw new Error('the embedded MongoDB needs a Linux with glibc: set MONGO_URL to a MongoDB server');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > neededGlibc[0] || (major === neededGlibc[0] && minor >= neededGlibc[1]);
}

async function newerRelease(): Promise<string> {
  const { ID = '', ID_LIKE = '' } = await osRelease();
  const family = `${ID} ${ID_LIKE}`;
  if (family.includes('ubuntu')) return 'noble';
  if (family.includes('debian')) return 'trixie';
  throw new Error('the embedded MongoDB needs glibc 2.38 or later: set MONGO_URL to a MongoDB server');
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
