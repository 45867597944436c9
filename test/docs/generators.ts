import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const source = path.join(import.meta.dirname, 'generators');

/** The folder with the installed generators of clients, and Newman. */
export const generatorsFolder = path.resolve(import.meta.dirname, '../../.cache/docs/generators');

/** Installs the locked packages of `test/docs/generators`, unless an earlier run has installed the same ones. */
export async function installGenerators(): Promise<void> {
  const lock = await readFile(path.join(source, 'package-lock.json'), 'utf8');
  const installed = path.join(generatorsFolder, 'node_modules/.installed');
  await mkdir(generatorsFolder, { recursive: true });
  await cp(source, generatorsFolder, { recursive: true });
  if ((await readFile(installed, 'utf8').catch(() => '')) === lock) return;
  await rm(path.dirname(installed), { recursive: true, force: true });
  await runHere('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
  await writeFile(installed, lock);
}

/** Runs an installed package's command. If it fails, the error has everything that it printed. */
export const runPackage = (command: string, args: readonly string[]): Promise<string> =>
  runHere(path.join(generatorsFolder, 'node_modules/.bin', command), args);

async function runHere(command: string, args: readonly string[]): Promise<string> {
  const options = { cwd: generatorsFolder, maxBuffer: 64 * 1_048_576 };
  const { stdout } = await promisify(execFile)(command, args, options).catch((error) => {
    throw new Error(`${path.basename(command)}\n${error.stdout}\n${error.stderr}`);
  });
  return stdout;
}
