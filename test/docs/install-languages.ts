import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The Debian package of each command that the verifiers need. */
const packages: Readonly<Record<string, string>> = {
  python3: 'python3',
  php: 'php-cli',
  go: 'golang-go',
  ruby: 'ruby',
  javac: 'default-jdk-headless',
};

const isThere = (command: string): boolean =>
  (process.env.PATH ?? '').split(path.delimiter).some((folder) => existsSync(path.join(folder, command)));

/** Sees to it that every language of the verifiers is here: installs Debian's where this user may, and else says what to do. */
export async function ensureLanguages(): Promise<void> {
  const missing = Object.keys(packages).filter((command) => !isThere(command));
  if (missing.length === 0) return;
  const wanted = missing.map((command) => packages[command] as string);
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Error(`The verifiers' tests need ${missing.join(', ')}: apt-get install ${wanted.join(' ')}`);
  }
  console.log(`installing ${wanted.join(', ')} with apt`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update', '-qq'], { env });
  const install = ['install', '-y', '-qq', '--no-install-recommends', ...wanted];
  await run('apt-get', install, { env, maxBuffer: 64 * 1_048_576 });
}
