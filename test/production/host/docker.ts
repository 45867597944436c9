import fs from 'node:fs/promises';
import path from 'node:path';
import { type ComposeService, composeConfig } from '../compose.ts';
import { redisPassword, type Servers } from './servers.ts';
import type { Plan, ServiceProcesses } from './service-processes.ts';
import { type Call, execIn, printed, quoted, type StandIn } from './stand-ins.ts';

interface DockerHost {
  servers: Servers;
  processes: ServiceProcesses;
  logDir: string;
  /** The folder of a version, which holds what its image would. */
  versionFolder(version: string): string;
  /** Builds the version whose files are in this folder. */
  build(checkout: string, commit: string): Promise<string>;
  /** Variables that differ from production. */
  overrides(name: string): Promise<Record<string, string>>;
}

/**
 * Does what `docker` and `docker compose` do: starts the command of a service in docker-compose.yml with its
 * environment, which the real Docker Compose resolves from .env. There are no containers, networks, volumes or limits.
 */
export function docker({ servers, processes, logDir, versionFolder, build, overrides }: DockerHost): StandIn {
  const node = path.dirname(process.execPath);
  let started = 0;

  async function serviceOf(name: string, { cwd }: Call): Promise<ComposeService> {
    const { services } = await composeConfig({}, { envFile: path.join(cwd, '.env') });
    const found = services[name];
    if (!found) throw new Error(`no such service: ${name}`);
    return found;
  }
  const versionOf = ({ image }: ComposeService) => image.split(':')[1] ?? '';

  async function planOf(name: string, call: Call, instance?: string): Promise<Plan> {
    const service = await serviceOf(name, call);
    const { environment = {}, command, entrypoint } = service;
    // The names of the network `data`.
    const ofServers = { REDIS_URL: environment.REDIS_URL?.replace('@redis:6379', `@127.0.0.1:${servers.redisPort}`) };
    const ofInstance = instance && (await overrides(instance));
    const env = { ...environment, ...ofServers, ...ofInstance } as Record<string, string>;
    const words = [...(entrypoint ?? []), ...(command ?? [])];
    return {
      folder: versionFolder(versionOf(service)),
      command: words.length > 0 ? words : ['node', 'dist/api/main.js'],
      env,
    };
  }

  const instancesOf = (service: string) => processes.names().filter((name) => name.replace(/-\d+$/, '') === service);

  /** `up -d --no-deps [--no-recreate] [--wait] --scale SERVICE=COUNT SERVICE`. Without `--no-recreate`, none runs. */
  async function up(words: string[], call: Call): Promise<string> {
    const [, service = '', count] = /^([\w-]+)=(\d+)$/.exec(words.find((word) => word.includes('=')) ?? '') ?? [];
    const running = instancesOf(service).filter(processes.isRunning);
    const isNew = words.includes('--no-recreate');
    if (words.at(-1) !== service || (!isNew && running.length > 0)) throw new Error(`no stand-in for up ${words}`);
    const missing = Math.max(0, Number(count) - running.length);
    const names = isNew
      ? Array.from({ length: missing }, () => `${service}-${++started}`)
      : instancesOf(service).slice(0, missing);
    await Promise.all(names.map(async (name) => processes.start(name, await planOf(service, call, name))));
    return '';
  }

  /** Stops processes, or stops and starts a server: a `start` of processes would keep the settings of their last start. */
  async function act(command: 'stop' | 'restart', services: string[]): Promise<string> {
    await Promise.all(
      services.map(async (service) => {
        const server = { mongo: servers.mongo, redis: servers.redis }[service];
        if (command === 'restart' && !server) throw new Error(`no stand-in for restart ${service}`);
        await Promise.all([server?.stop(), ...instancesOf(service).map(processes.stop)]);
        if (command === 'restart') await server?.start();
      }),
    );
    return '';
  }

  /** `run --rm [-T] [--no-deps] [--user USER] [-v FILE:FILE[:ro]] SERVICE [WORD...]` */
  async function runOnce(words: string[], call: Call): Promise<string> {
    const rest = [...words];
    while (rest[0]?.startsWith('-')) {
      const option = rest.shift();
      const value = option === '--user' || option === '-v' ? rest.shift() : undefined;
      const [outside, inside] = value?.split(':') ?? [];
      if (option === '-v') {
        if (outside !== inside) throw new Error(`no stand-in for another path in the container: ${value}`);
        await fs.access(outside ?? '');
      }
    }
    const [service = '', ...args] = rest;
    const { folder, command, env } = await planOf(service, call);
    return execIn(folder, { ...env, PATH: `${node}:${process.env.PATH}` }, [...command, ...args]);
  }

  async function compose([command = '', ...words]: string[], call: Call): Promise<string> {
    switch (command) {
      case 'build': {
        const version = await build(call.cwd, call.env.COMMIT ?? '');
        const { build: given } =
          (await composeConfig(call.env, { envFile: path.join(call.cwd, '.env') })).services.migrate ?? {};
        if (given?.args?.VERSION !== version) throw new Error(`build with VERSION=${version}`);
        return '';
      }
      case 'up':
        return up(words, call);
      case 'stop':
      case 'restart':
        return act(command, words);
      case 'run':
        return runOnce(words, call);
      case 'exec': {
        const [service, program, ...args] = words.filter((word) => word !== '-T');
        if (service !== 'redis' || program !== 'redis-cli') throw new Error(`no stand-in for ${words}`);
        return `REDISCLI_AUTH=${redisPassword} exec redis-cli -p ${servers.redisPort} ${args.map(quoted).join(' ')}`;
      }
      case 'ps':
        return printed(
          instancesOf(words.at(-1) ?? '')
            .filter((name) => words.includes('-aq') || processes.isRunning(name))
            .map((name) => `${name}\n`)
            .join(''),
        );
      case 'logs':
        return `exec cat ${quoted(logDir)}/*.log`;
      default:
        throw new Error(`no stand-in for docker compose ${command}`);
    }
  }

  return async (call) => {
    const [command, ...words] = call.args;
    if (command === 'compose') return compose(words, call);
    if (command === 'image') {
      const [, version = ''] = words.at(-1)?.split(':') ?? [];
      await fs.access(path.join(versionFolder(version), 'dist'));
      return printed('[]');
    }
    if (command === 'stop' || command === 'rm') {
      await Promise.all(words.map(command === 'stop' ? processes.stop : processes.remove));
      return printed(words.map((name) => `${name}\n`).join(''));
    }
    // The tunnel to the queues asks for the address of a container.
    if (command === 'ps')
      return printed(
        instancesOf(words.at(-1)?.split('=').at(-1) ?? '')
          .map((name) => `${name}\n`)
          .join(''),
      );
    if (command === 'inspect') return printed('127.0.0.1\n');
    throw new Error(`no stand-in for docker ${command}`);
  };
}
