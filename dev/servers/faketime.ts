import { existsSync } from 'node:fs';
import path from 'node:path';
import { libraryDirs, type Say, unpackedPackages } from './debian-packages.ts';

const library = 'faketime/libfaketimeMT.so.1';

/**
 * The library that shifts a process's wall clock (Debian's libfaketime), for tests that set MongoDB's clock. Uses the
 * installed library, or downloads it into the project's cache. Linux only.
 */
export async function faketimeLibrary(say?: Say): Promise<string> {
  const own = existing(libraryDirs('/'));
  if (own) return own;
  const fetched = await unpackedPackages(['libfaketime'], { say }).catch((error: Error) => {
    throw new Error(`install libfaketime (${error.message})`, { cause: error });
  });
  return existing(libraryDirs(fetched)) ?? '';
}

const existing = (dirs: string[]): string | undefined =>
  dirs.map((dir) => path.join(dir, library)).find((file) => existsSync(file));

/**
 * Downloads the files that only tests need. Without them, the tests that set MongoDB's clock fail and name the reason.
 */
export async function prepareTests(say: Say): Promise<void> {
  if (process.platform !== 'linux') return;
  await faketimeLibrary(say).catch((error: Error) => say(`npm test needs another library: ${error.message}`));
}
