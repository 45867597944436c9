import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { startMongo } from '../../dev/servers/mongo.ts';
import { freePort } from '../../dev/servers/ports.ts';
import type { RunningServer } from '../../dev/servers/processes.ts';
import { redisCommand, startRedis } from '../../dev/servers/redis.ts';
import { connectMongo, disconnectMongo } from '../../shared/base/mongo/connection.ts';
import { migrate } from '../../shared/process/migrate.ts';
import { testConfig, testSettings } from '../support/service.ts';
import { serviceProcess, testBuild } from '../support/service-process.ts';

/** The whole service as systemd runs it on one host: units that scripts start and stop with `systemctl`. */
export interface HostedService {
  /** The addresses of the API processes. */
  apis: readonly string[];
  /** Reads the current contents of the settings file. */
  settings(): Promise<Record<string, string>>;
  /** Runs a bash script with the settings in the folder of the build. Rejects if a line fails. */
  run(script: string): Promise<string>;
  killMongo(): void;
  /** Ends the processes of the service. */
  stopService(): Promise<void>;
  close(): Promise<void>;
}

interface Unit {
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts real processes: MongoDB, Redis, two API processes and one worker process for all pools. */
export async function startHosted(more: Record<string, string>): Promise<HostedService> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rides-hosted-'));
  const inFolder = (name: string) => path.join(folder, name);
  await fs.mkdir(inFolder('host'));
  await fs.symlink(testBuild(), inFolder('host/dist'));

  const mongoData = inFolder('mongo');
  let mongo = await startMongo({ dataDir: mongoData });
  const { url: mongoUrl } = mongo;
  let redis: RunningServer = await startRedis({ dataDir: inFolder('redis'), appendonly: true });
  const { url: redisUrl } = redis;
  const ports = [await freePort(), await freePort()] as const;
  const apis = ports.map((port) => `http://127.0.0.1:${port}`);

  const envFile = inFolder('rides.env');
  const settings = async () => {
    const lines = (await fs.readFile(envFile, 'utf8')).trim().split('\n');
    return Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
  };
  const { PORT: _, ...first } = testSettings({ MONGO_URL: mongoUrl, REDIS_URL: redisUrl, LOG_LEVEL: 'info', ...more });
  await fs.writeFile(
    envFile,
    Object.entries(first)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );

  const process_ = (name: string, script: 'api/main' | 'workers/main', args: string[], env = {}): Unit => {
    let running: ReturnType<typeof serviceProcess> | undefined;
    return {
      async start() {
        running = serviceProcess({
          name,
          script,
          args,
          env: { ...(await settings()), ...env },
          output: { logDir: folder },
        });
        await running.start();
      },
      async stop() {
        await running?.stop();
      },
    };
  };
  const units: Record<string, Unit> = {
    mongod: {
      async start() {
        mongo = await startMongo({ dataDir: mongoData });
      },
      stop: () => mongo.stop(),
    },
    // Redis restarts without its data.
    'redis-server': {
      async start() {
        redis = await startRedis({
          dataDir: inFolder('redis'),
          appendonly: true,
          port: Number(new URL(redisUrl).port),
        });
      },
      async stop() {
        process.kill(redis.pid, 'SIGKILL');
        await redis.exited;
        await fs.rm(inFolder('redis'), { recursive: true });
      },
    },
    ...Object.fromEntries(
      ports.map((port) => [`rides-api@${port}`, process_(`api-${port}`, 'api/main', [], { PORT: String(port) })]),
    ),
    'rides-worker@all': process_('worker', 'workers/main', []),
  };
  const named = (pattern: string) =>
    Object.keys(units).filter(
      (name) =>
        new RegExp(`^${pattern.replaceAll('*', '.*')}(\\.service)?$`).test(name) || `${name}.service` === pattern,
    );

  async function systemctl([command = '', ...patterns]: string[]): Promise<string> {
    const names = patterns.filter((pattern) => !pattern.startsWith('--')).flatMap(named);
    if (names.length === 0) throw new Error(`no unit ${patterns.join(' ')}`);
    if (command === 'list-units') return names.map((name) => `${name}.service loaded active running\n`).join('');
    if (!['start', 'stop', 'restart'].includes(command)) throw new Error(`no command ${command}`);
    const each = names.map((name) => units[name] as Unit);
    if (command !== 'start') await Promise.all(each.map((unit) => unit.stop()));
    if (command !== 'stop') await Promise.all(each.map((unit) => unit.start()));
    return '';
  }

  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const words = Buffer.concat(chunks).toString().split(' ');
    await systemctl(words).then(
      (text) => response.end(text),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const bin = inFolder('bin');
  const script = (name: string, text: string) =>
    fs.writeFile(path.join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  await fs.mkdir(bin);
  await script('systemctl', `exec curl -sS --fail-with-body --data-binary "$*" http://127.0.0.1:${port}`);
  const { file, env } = await redisCommand();
  const libraries = env.LD_LIBRARY_PATH ? `env LD_LIBRARY_PATH=${env.LD_LIBRARY_PATH} ` : '';
  await script('redis-cli', `exec ${libraries}${path.join(path.dirname(file), 'redis-cli')} "$@"`);

  const { secrets } = testConfig({ MONGO_URL: mongoUrl });
  await connectMongo(mongoUrl);
  await migrate(secrets.keys);
  const ofService = Object.entries(units).flatMap(([name, unit]) => (name.startsWith('rides-') ? [unit] : []));
  await Promise.all(ofService.map((unit) => unit.start()));
  const stopService = async () => void (await Promise.all(ofService.map((unit) => unit.stop())));

  return {
    apis,
    settings,
    async run(text) {
      const prepared = `set -euo pipefail; set -a; . "$RIDES_ENV"; set +a\n${text}`;
      const variables = { RIDES_ENV: envFile, MONGO_DATA: mongoData, BACKUP: inFolder('backup.tgz'), API: apis[0] };
      const nodeDir = path.dirname(process.execPath);
      const { stdout } = await promisify(execFile)('bash', ['-c', prepared], {
        cwd: inFolder('host'),
        env: { ...variables, PATH: [bin, nodeDir, process.env.PATH].join(':') },
      });
      return stdout;
    },
    stopService,
    killMongo: () => void process.kill(mongo.pid, 'SIGKILL'),
    async close() {
      await stopService();
      server.close();
      await disconnectMongo();
      await Promise.all([mongo.stop(), redis.stop()]);
      await fs.rm(folder, { recursive: true, force: true });
    },
  };
}
