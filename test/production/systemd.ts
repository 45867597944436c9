import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { libraryDirs, unpackedPackages } from '../../dev/servers/debian-packages.ts';
import { temporaryFolder } from '../../dev/servers/temporary-folder.ts';

export const unitsFolder = path.join(import.meta.dirname, '..', '..', 'deploy', 'systemd');

const run = promisify(execFile);

/** Runs a program of the package systemd: the machine's own, or one that apt downloads. Its manager need not run. */
async function systemd(file: string, args: string[], env: NodeJS.ProcessEnv = {}) {
  if (await isFile(file)) return run(file, args, { env: { PATH: process.env.PATH, ...env } });
  const folder = await unpackedPackages(['systemd']);
  const libraries = [...libraryDirs(folder), ...libraryDirs(folder).map((dir) => path.join(dir, 'systemd'))];
  const own = {
    PATH: process.env.PATH,
    LD_LIBRARY_PATH: libraries.join(':'),
    // The units of systemd itself, to which every unit refers.
    SYSTEMD_UNIT_PATH: path.join(folder, 'lib/systemd/system'),
  };
  return run(path.join(folder, file), args, { env: { ...own, ...env } });
}

const isFile = (file: string) =>
  fs.access(file).then(
    () => true,
    () => false,
  );

/** What `systemd-analyze verify` says about units in a folder; empty if it has no complaint. */
export async function verifyUnits(folder: string, units: readonly string[]): Promise<string> {
  const files = units.map((unit) => path.join(folder, unit));
  const result = await systemd('/usr/bin/systemd-analyze', ['verify', ...files]).catch((error) => error);
  return result.stderr.trim();
}

/** Reads an environment file with systemd's own parser. Systemd reads environment.d with the parser of EnvironmentFile. */
export async function readBySystemd(text: string): Promise<Record<string, string>> {
  const folder = await temporaryFolder('environment');
  try {
    await fs.mkdir(path.join(folder, 'environment.d'));
    await fs.writeFile(path.join(folder, 'environment.d/rides.conf'), text);
    const generator = '/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator';
    const { stdout } = await systemd(generator, [], { HOME: folder, XDG_CONFIG_HOME: folder });
    return await readByShell(stdout);
  } finally {
    await fs.rm(folder, { recursive: true });
  }
}

/** Reads an environment file as a POSIX shell does with `set -a; . FILE`. */
export async function readByShell(text: string): Promise<Record<string, string>> {
  const folder = await temporaryFolder('environment');
  const file = path.join(folder, 'rides.env');
  try {
    await fs.writeFile(file, text);
    const script = 'set -eua; . "$0"; unset PWD OLDPWD _; exec /usr/bin/env -0';
    const { stdout } = await run('/bin/sh', ['-c', script, file], { env: {} });
    return Object.fromEntries(stdout.split('\0').flatMap((line) => (line ? [splitOnce(line)] : [])));
  } finally {
    await fs.rm(folder, { recursive: true });
  }
}

const splitOnce = (line: string) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)];
