import fs from 'node:fs/promises';
import path from 'node:path';
import type { SecretsKeys } from '../../shared/base/encryption.ts';
import { migrate } from '../../shared/process/migrate-database.ts';
import { startMongo } from '../servers/mongo.ts';
import { onFreePort } from '../servers/ports.ts';
import type { RunningProcess } from '../servers/processes.ts';
import { startRedis } from '../servers/redis-server.ts';
import { removeAbandonedFolders } from '../servers/temporary-folder.ts';
import { type RoutingServer, startRoutingServer } from '../streets/routing-server.ts';
import { streetTiles } from '../streets/street-tiles.ts';
import { compileService } from './compile-service.ts';
import { withDatabase } from './database.ts';
import { keepRunning, type RestartingProcess } from './keep-running.ts';
import { type Scale, workersOf } from './scale.ts';
import { startService } from './service.ts';
import { checkRedis, givenServers, prepareServers, reachableHost, stackSettings } from './stack-settings.ts';
import type { StackEnv, StackState } from './stack-state.ts';

type StackOptions = {
  port: number;
  /** The folder of all data of the stack. */
  dataDir: string;
  /** True if Redis keeps its data across restarts, as MongoDB always does. */
  keepQueues: boolean;
  scale?: Scale;
  /** Settings of the services, in addition to this process's environment. */
  settings?: NodeJS.ProcessEnv;
  /** Called with a line of text about each event of the stack itself. */
  say: (line: string) => void;
  /** Called with a progress text, to be shown until the next call. */
  progress: (text: string) => void;
  /** Called with each line that a service prints. */
  onLine: (name: string, line: string) => void;
};

export type Stack = {
  url: string;
  env: StackEnv;
  servers: StackState['servers'];
  metricsPorts: StackState['metricsPorts'];
  stop(): Promise<void>;
};

/**
 * Starts MongoDB, Redis and a routing server, unless MONGO_URL, REDIS_URL or ROUTING_URL is set, then the API and the
 * processes of each worker pool.
 * Restarts each one that dies. If one cannot be started, stops the others and rejects.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const started: RestartingProcess<RunningProcess>[] = [];
  const keep = async <T extends RunningProcess>(name: string, start: () => Promise<T>): Promise<T> => {
    const kept = await keepRunning(name, start, options.say);
    started.push(kept);
    return kept.first;
  };
  // The servers are started first and stop last, because the services need them to end cleanly.
  let serverCount = 0;
  let build = '';
  let routing: RoutingServer | undefined;
  const stop = async () => {
    await Promise.all(started.slice(serverCount).map((kept) => kept.stop()));
    await Promise.all(started.slice(0, serverCount).map((kept) => kept.stop()));
    await routing?.stop();
    if (build) await fs.rm(build, { recursive: true, force: true });
  };
  const compile = async () => {
    build = await compileService();
  };
  // MongoDB starts before Redis. Its engine locks the data, so a second stack on the same folder fails before it
  // touches Redis.
  const startServers = async (secretsKeys: SecretsKeys) => {
    const MONGO_URL = await mongoUrl(options, keep);
    await withDatabase(MONGO_URL, () => migrate(secretsKeys));
    const REDIS_URL = await redisUrl(options, keep);
    serverCount = started.length;
    return { MONGO_URL, REDIS_URL };
  };

  try {
    await fs.mkdir(options.dataDir, { recursive: true, mode: 0o700 });
    // Checks the settings before anything starts, so that an invalid one is reported once.
    const url = `http://${reachableHost(process.env.HOST)}:${options.port}`;
    const local = options.settings?.WEBHOOK_LOCAL_TARGETS ?? process.env.WEBHOOK_LOCAL_TARGETS;
    // The stack delivers to its own receiver (receiver.ts).
    const WEBHOOK_LOCAL_TARGETS = [new URL(url).origin, local].filter(Boolean).join(',');
    if (!process.env.ROUTING_URL) routing = await startRoutingServer();
    const given = {
      ...(routing && { ROUTING_URL: routing.url }),
      ...(!process.env.TILE_URL && { TILE_URL: await streetTiles() }),
      ...options.settings,
      PORT: String(options.port),
      WEBHOOK_LOCAL_TARGETS,
    };
    const { settings, secretsKeys } = await stackSettings(options.dataDir, given);
    await removeAbandonedFolders();
    await checkRedis();
    await prepareServers((line) => {
      options.say(line);
      options.progress(line);
    });
    const [servers] = await allStarted([startServers(secretsKeys), compile()]);
    const env = { ...settings, ...servers };
    const workers = workersOf(options.scale ?? {});
    options.progress(`starting the API and ${workers.length} workers`);
    const metricsPorts: StackState['metricsPorts'] = {};
    const start = (name: string, script: string, ...args: string[]) => {
      const startAt = async (port: number) => {
        const service = await startService({
          name,
          script: path.join(build, script),
          args,
          env: { ...env, OPS_PORT: String(port) },
          onLine: (line) => options.onLine(name, line),
        });
        // A restart uses the same port, which Prometheus may read.
        metricsPorts[name] = port;
        return service;
      };
      return keep(name, () => (metricsPorts[name] ? startAt(metricsPorts[name]) : onFreePort(startAt)));
    };
    await allStarted([
      start('api', 'dev/api.js'),
      ...workers.map(({ name, pool }) => start(name, 'workers/main.js', pool)),
    ]);
    return { url, env, servers: givenServers().named, metricsPorts, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Keep = <T extends RunningProcess>(name: string, start: () => Promise<T>) => Promise<T>;

async function mongoUrl({ dataDir, progress }: StackOptions, keep: Keep): Promise<string> {
  const { mongo, named } = givenServers();
  progress(mongo ? `connecting to MongoDB at ${named.mongo}` : 'starting MongoDB');
  return mongo || (await keep('MongoDB', () => startMongo({ dataDir: path.join(dataDir, 'mongo') }))).url;
}

async function redisUrl({ dataDir, keepQueues, progress }: StackOptions, keep: Keep): Promise<string> {
  const { redis } = givenServers();
  if (redis) return redis;
  progress('starting Redis');
  let port: number | undefined;
  const start = async () => {
    const server = await startRedis({ dataDir: path.join(dataDir, 'redis'), appendonly: keepQueues, port });
    // A restart uses the same port, to which clients reconnect.
    port = Number(new URL(server.url).port);
    return server;
  };
  return (await keep('Redis', start)).url;
}

/** Like Promise.all, but rejects only after all have settled, so that the started ones can be stopped. */
async function allStarted<T extends readonly unknown[]>(starting: [...{ [I in keyof T]: Promise<T[I]> }]): Promise<T> {
  await Promise.allSettled(starting);
  return (await Promise.all(starting)) as unknown as T;
}
