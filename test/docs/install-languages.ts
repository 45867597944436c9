import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The Debian package of each command that the verifiers need. */
const languages: Readonly<Record<string, string>> = {
  python3: 'python3',
  php: 'php-cli',
  go: 'golang-go',
  ruby: 'ruby',
  javac: 'default-jdk-headless',
};

const isThere = (command: string): boolean =>
  (process.env.PATH ?? '').split(path.delimiter).some((folder) => existsSync(path.join(folder, command)));

/** Installs missing languages if this user is root. Resolves with the commands that are still missing. */
export const installLanguages = (): Promise<string[]> => installCommands(languages);

/** Installs the Debian packages of missing commands, as `installLanguages` does. */
export async function installCommands(packages: Readonly<Record<string, string>>): Promise<string[]> {
  const missing = missingOf(packages);
  if (missing.length === 0 || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return missing;
  const wanted = missing.flatMap((command) => packages[command]?.split(' ') ?? []);
  console.log(`installing ${wanted.join(', ')} with apt`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update', '-qq'], { env });
  const install = ['install', '-y', '-qq', '--no-install-recommends', ...wanted];
  await run('apt-get', install, { env, maxBuffer: 64 * 1_048_576 });
  return missingOf(packages);
}

const missingOf = (packages: object): string[] => Object.keys(packages).filter((command) => !isThere(command));
