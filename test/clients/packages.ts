import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { installCommands } from '../docs/install-languages.ts';

const root = path.resolve(import.meta.dirname, '../..');
const folder = path.join(root, '.cache/clients');
const tsc = path.join(root, 'node_modules/typescript/bin/tsc');

/** How a program that uses a packed client is started, and its environment. */
export interface Program {
  command: readonly string[];
  env: Record<string, string>;
}

/** The Debian packages that build and check the Python client. */
const pythonCommands = { 'pyproject-build': 'python3-build python3-setuptools python3-wheel', mypy: 'mypy' };

/** Packs a client, installs it like a partner, and compiles or checks `program` with strict types. */
export const clients: Readonly<Record<'TypeScript' | 'Python', (program: string) => Promise<Program>>> = {
  async TypeScript(program) {
    const name = path.basename(program, '.ts');
    const app = await emptyFolder(`typescript/${name}`);
    const installed = path.join(app, 'node_modules/ride-partner-client');
    await mkdir(installed, { recursive: true });
    await run('npm', ['pack', '--silent', '--pack-destination', app], path.join(root, 'clients/typescript'));
    const [pack = ''] = (await readdir(app)).filter((name) => name.endsWith('.tgz'));
    await run('tar', ['-xzf', path.join(app, pack), '-C', installed, '--strip-components=1'], app);
    await copyFile(program, path.join(app, `${name}.mts`));
    const strict = ['--strict', '--noUncheckedIndexedAccess', '--target', 'es2023', '--module', 'nodenext'];
    await run(process.execPath, [tsc, '--ignoreConfig', ...strict, '--types', 'node', `${name}.mts`], app);
    return { command: [process.execPath, path.join(app, `${name}.mjs`)], env: {} };
  },
  async Python(program) {
    const app = await emptyFolder(`python/${path.basename(program, '.py')}`);
    const missing = await installCommands(pythonCommands);
    if (missing.length > 0) throw new Error(`missing: ${missing}`);
    // setuptools leaves files beside the sources.
    const sources = path.join(app, 'sources');
    await run('cp', ['-r', path.join(root, 'clients/python'), sources], app);
    await run('pyproject-build', ['--no-isolation', '--outdir', app, sources], app);
    const [wheel = ''] = (await readdir(app)).filter((name) => name.endsWith('.whl'));
    const installed = path.join(app, 'installed');
    await run('python3', ['-m', 'zipfile', '-e', wheel, installed], app);
    await run('mypy', ['--strict', '--python-version', '3.9', path.join(installed, 'ride_partner'), program], app, {
      MYPYPATH: installed,
    });
    return { command: ['python3', program], env: { PYTHONPATH: installed } };
  },
};

async function emptyFolder(name: string): Promise<string> {
  const empty = path.join(folder, name);
  await rm(empty, { recursive: true, force: true });
  await mkdir(empty, { recursive: true });
  return empty;
}

/** Runs a command. If it fails, the error has everything that it printed. */
async function run(command: string, args: readonly string[], cwd: string, env = {}): Promise<void> {
  await promisify(execFile)(command, args, { cwd, env: { ...process.env, ...env } }).catch(({ stdout, stderr }) => {
    throw new Error(`${command} ${args.join(' ')}\n${stdout}\n${stderr}`);
  });
}
