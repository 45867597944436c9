import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { readBySystemd } from '../systemd.ts';
import { readUnit } from '../units.ts';
import type { Servers } from './servers.ts';
import type { ServiceProcesses } from './service-processes.ts';
import { execIn, printed, type StandIn } from './stand-ins.ts';

interface SystemHost {
  servers: Servers;
  processes: ServiceProcesses;
  /** The folder that replaces `/`. */
  root: string;
  /** Variables that differ from production. */
  overrides(name: string): Promise<Record<string, string>>;
  /** Puts the paths of a text below `root`. */
  here(text: string): string;
}

/**
 * Does what systemctl does: starts the command of a unit in deploy/systemd with the variables of the unit and its
 * environment file, and waits for ExecStartPost. Does not sandbox, limit or restart processes. A timer starts nothing.
 */
export function systemctl({ servers, processes, root, overrides, here }: SystemHost): StandIn {
  const unitFolder = path.join(root, 'etc/systemd/system');
  const enabled = new Set<string>();
  const inRoot = (file = '') => path.join(root, file);

  async function start(name: string): Promise<void> {
    const { command, environment, options } = await readUnit(name, unitFolder);
    const ofFile = await readBySystemd(await fs.readFile(inRoot(options.EnvironmentFile?.[0]), 'utf8'));
    const env = { ...environment, ...ofFile, ...(await overrides(name)) };
    await processes.start(name, { folder: inRoot(options.WorkingDirectory?.[0]), command, env });
    const ready = options.ExecStartPost?.[0]?.replace(/^-/, '') ?? 'exit 1';
    await promisify(execFile)('/bin/sh', ['-c', ready], { env: { PATH: process.env.PATH, OPS_PORT: env.OPS_PORT } });
  }

  /** A script that runs the commands of the backup's unit. */
  async function backup(): Promise<string> {
    const text = here(await fs.readFile(path.join(unitFolder, 'rides-backup.service'), 'utf8'));
    const valuesOf = (option: string) =>
      [...text.matchAll(new RegExp(`^${option}=(.+)$`, 'gm'))].map(([, value = '']) =>
        value.replaceAll(/([%$])\1/g, '$1'),
      );
    const [file = ''] = valuesOf('EnvironmentFile');
    const [folder = ''] = valuesOf('WorkingDirectory');
    const env = { ...(await readBySystemd(await fs.readFile(file, 'utf8'))), PATH: process.env.PATH };
    return execIn(folder, env, ['/bin/sh', '-c', valuesOf('ExecStart').join(' && ')]);
  }

  const unit = (name: string) => {
    if (name === 'mongod') return servers.mongo;
    if (name === 'redis-server') return servers.redis;
    return { start: () => start(name), stop: () => processes.stop(name) };
  };
  const each = (names: string[], act: (name: string) => Promise<void>) => Promise.all(names.map(act));

  return async ({ args: [command = '', ...rest] }) => {
    const options = rest.filter((word) => word.startsWith('--'));
    const named = rest.filter((word) => !word.startsWith('--')).map((word) => word.replace(/\.service$/, ''));
    const names = named.flatMap((name) => (name === 'rides.target' ? [...enabled] : name));
    if (command === 'daemon-reload' || named[0]?.endsWith('.timer')) return '';
    if (command === 'start' && named[0] === 'rides-backup') return backup();
    // `show -P Environment UNIT`
    if (command === 'show') return printed(`OPS_PORT=${(await overrides(named.at(-1) ?? '')).OPS_PORT}\n`);
    if (command === 'list-units') {
      const running = [...enabled].sort().filter(processes.isRunning);
      return printed(running.map((name) => `${name}.service loaded active running\n`).join(''));
    }
    if (command === 'enable') for (const name of names) enabled.add(name);
    else if (!['start', 'stop', 'restart'].includes(command)) throw new Error(`no command ${command}`);
    if (command === 'stop' || command === 'restart') await each(names, (name) => unit(name).stop());
    if (command === 'start' || command === 'restart' || options.includes('--now')) {
      await each(names, (name) => unit(name).start());
    }
    return '';
  };
}
