import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../../dev/servers/ports.ts';
import { redisCommand } from '../../../dev/servers/redis-server.ts';
import { temporaryFolder } from '../../../dev/servers/temporary-folder.ts';
import { connectMongo, disconnectMongo } from '../../../shared/base/mongo/connect-mongo.ts';
import { build } from '../../../shared/base/version.ts';
import { testBuild } from '../../support/service-process.ts';
import { pageBlocks } from '../operations-doc.ts';
import { readByShell, unitsFolder } from '../systemd.ts';
import { docker } from './docker.ts';
import { redisPassword, startServers } from './servers.ts';
import { serviceProcesses } from './service-processes.ts';
import { printed, type StandIn, serveStandIns } from './stand-ins.ts';
import { systemctl } from './systemctl.ts';

export type Form = 'systemd' | 'compose';

export interface HostOptions {
  /** Added to the environment file. */
  settings?: Record<string, string>;
  services?: readonly string[];
  /** If true, git and npm are the real ones, and no version is there at first. */
  isBuildReal?: boolean;
}

/** A host on which an operator runs the service, with stand-ins for systemd and Docker. test/production/README.md lists them. */
export type Host = Awaited<ReturnType<typeof startHost>>;

/** Who pastes the procedures. */
export const operator = 'anna';
const project = path.join(import.meta.dirname, '..', '..', '..');
const next = (form: Form, name: string) => (form === 'systemd' ? `rides-${name.replace(/-(\d)$/, '@$1')}` : name);

/** Starts MongoDB, Redis and, with `services`, these processes of the service, such as `api-1`. */
export async function startHost(form: Form, { settings = {}, services = [], isBuildReal = false }: HostOptions = {}) {
  // Packages are found from a folder of the project.
  await fs.mkdir(path.join(project, '.cache'), { recursive: true });
  const folder = await temporaryFolder('hosted', path.join(project, '.cache'));
  const [root, bin, logDir, checkout] = ['root', 'bin', 'log', 'checkout'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
    string,
  ];
  const inRoot = ['etc/systemd', 'etc/cron.d', 'opt/rides'].map((made) => path.join(root, made));
  for (const made of [logDir, checkout, ...inRoot]) await fs.mkdir(made, { recursive: true });
  await fs.cp(unitsFolder, path.join(root, 'etc/systemd/system'), { recursive: true });
  const servers = await startServers(folder);
  const processes = serviceProcesses(logDir);
  const envFile = form === 'systemd' ? path.join(root, 'etc/rides.env') : path.join(checkout, '.env');
  let published = build.release;

  const ports = new Map<string, { PORT: string; OPS_PORT: string }>();
  /** Free ports, and what production refuses: plain HTTP, and receivers on this machine. */
  async function overrides(name: string): Promise<Record<string, string>> {
    const own = ports.get(name) ?? { PORT: String(await freePort()), OPS_PORT: String(await freePort()) };
    ports.set(name, own);
    const { WEBHOOK_LOCAL_TARGETS = '' } = settings;
    return { ...own, HOST: '127.0.0.1', OPS_HOST: '127.0.0.1', SERVICE_ENV: 'development', WEBHOOK_LOCAL_TARGETS };
  }

  const versionFolder = (version: string) => path.join(root, 'opt/rides', version);
  async function addVersion(version: string, commit = '', at = versionFolder(version)): Promise<void> {
    await fs.mkdir(at, { recursive: true });
    await promisify(execFile)('cp', ['-al', testBuild(), path.join(at, 'dist')]);
    await fs.writeFile(path.join(at, 'package.json'), JSON.stringify({ type: 'module', version, gitHead: commit }));
    for (const shared of ['docs', '.env.example', 'deploy']) {
      await fs.symlink(path.join(project, shared), path.join(at, shared));
    }
  }

  const git: StandIn = async ({ args, cwd }) => {
    if (args[0] === 'clone') await addVersion(published, '', (args[2] ?? '').trim());
    else if (args[0] === 'pull') await writePackage(cwd);
    else if (args[0] === 'rev-parse') return printed('abc1234\n');
    else throw new Error(`no stand-in for git ${args[0]}`);
    return '';
  };
  const writePackage = (at: string) =>
    fs.writeFile(path.join(at, 'package.json'), JSON.stringify({ version: published, type: 'module' }, null, 2));
  const nothing: StandIn = async () => '';
  const here = (text: string) =>
    text.replaceAll(/\/(opt\/rides|etc\/rides|etc\/systemd\/system|etc\/cron\.d|backup\b)/g, (found) =>
      path.join(root, found),
    );
  const host = { servers, processes, root, logDir, overrides, versionFolder, here };
  const standIns = await serveStandIns(bin, {
    systemctl: systemctl(host),
    docker: docker({
      ...host,
      async build(at, commit) {
        const { version } = JSON.parse(await fs.readFile(path.join(at, 'package.json'), 'utf8'));
        await addVersion(version, commit);
        return version;
      },
    }),
    journalctl: async () => `exec cat '${logDir}'/*.log`,
    git,
    npm: nothing,
    chown: nothing,
    kubectl: async ({ args }) => printed(`${args.join(' ')}\n`),
    // Runs a remote command here, and prints what a tunnel would connect.
    ssh: async ({ args }) => (args[0] === '-L' ? printed(`${args[1]}\n`) : `eval "${args.slice(1).join(' ')}"`),
  });
  const { file, env } = await redisCommand();
  const libraries = env.LD_LIBRARY_PATH ? `LD_LIBRARY_PATH=${env.LD_LIBRARY_PATH} ` : '';
  const redisCli = path.join(path.dirname(file), 'redis-cli');
  await fs.writeFile(path.join(bin, 'redis-cli'), `#!/bin/sh\n${libraries}exec ${redisCli} "$@"\n`, { mode: 0o755 });

  const blocks = await pageBlocks();
  async function run(script: string, variables: Record<string, string> = {}): Promise<string> {
    const commands = blocks.find(({ name }) => name === form)?.text ?? 'exit 1';
    const { stdout } = await promisify(execFile)('bash', ['-c', here(`${commands}\n${script}`)], {
      cwd: form === 'systemd' ? root : checkout,
      env: {
        PATH: [bin, path.dirname(process.execPath), process.env.PATH].join(':'),
        HOME: process.env.HOME,
        USER: operator,
        ...variables,
      },
      maxBuffer: 16 * 1024 * 1024,
    }).catch((error) => {
      throw new Error(`${error.stderr}${error.stdout}`.trim() || error.message);
    });
    return stdout;
  }

  if (isBuildReal) await Promise.all(['git', 'npm'].map((name) => fs.rm(path.join(bin, name))));
  else await addVersion(build.release);
  const redisUrl = `redis://default:${redisPassword}@127.0.0.1:${servers.redisPort}`;
  // A process would refuse it in production.
  const { WEBHOOK_LOCAL_TARGETS: _, ...ofFile } = settings;
  const first: Record<string, string> = {
    API_DOMAIN: 'rides.example',
    PUBLIC_BASE_URL: 'https://rides.example',
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    REDIS_PASSWORD: redisPassword,
    MONGO_URL: servers.mongoUrl,
    MAIL_FROM: 'Rides <rides@rides.example>',
    SMTP_URL: 'smtp://127.0.0.1:9',
    LOG_LEVEL: 'info',
    // Docker Compose derives this address.
    ...(form === 'systemd' && { REDIS_URL: redisUrl }),
    ...ofFile,
  };
  if (!isBuildReal)
    await fs.writeFile(
      envFile,
      Object.entries(first)
        .map(([name, value]) => `${name}='${value}'\n`)
        .join(''),
    );
  await connectMongo(servers.mongoUrl);
  const running = (pattern: RegExp) =>
    processes.names().filter((name) => pattern.test(name) && processes.isRunning(name));
  const names = services.map((name) => next(form, name));
  if (services.length > 0) {
    const start =
      form === 'systemd'
        ? `systemctl enable --now rides.target ${names.join(' ')}`
        : [...new Set(names.map((name) => name.slice(0, -2)))]
            .map(
              (service) =>
                `docker compose up -d --no-deps --no-recreate --scale ${service}=${names.filter((name) => name.slice(0, -2) === service).length} ${service}`,
            )
            .join(' && ');
    await run(`use_version ${build.release} && migrate && ${start}`);
  }

  return {
    /** The folder that replaces `/`. */
    root,
    processes,
    /** The addresses of the running API processes. */
    apis: () => running(/api[@-]\d/).map((name) => `http://127.0.0.1:${ports.get(name)?.PORT}`),
    /** The addresses of the operators' ports of all running processes. */
    operatorsPorts: () => running(/./).map((name) => `http://127.0.0.1:${ports.get(name)?.OPS_PORT}`),
    /** The settings in the environment file. */
    settings: async () => ({ ...(await readByShell(await fs.readFile(envFile, 'utf8'))), ...settings }),
    /** Runs a bash script after the commands of this form. Resolves with its output. Rejects if it ends with an error. */
    run,
    /** Stores the files of a version, as a build does. */
    addVersion: (version: string, commit?: string) => addVersion(version, commit),
    /** The version that `git clone` and `git pull` bring. */
    publish: (version: string) => {
      published = version;
    },
    /** The addresses of the servers, as operators know them. */
    servers: { MONGO: servers.mongoUrl, REDIS: redisUrl },
    killMongo: servers.killMongo,
    async close() {
      await processes.stopAll();
      standIns.close();
      await disconnectMongo();
      await Promise.all([servers.mongo.stop(), servers.redis.stop()]);
      await fs.rm(folder, { recursive: true, force: true });
    },
  };
}
