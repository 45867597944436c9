import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import mongoose from 'mongoose';
import { buildAssets } from '../../dev/build-assets.ts';
import { givenMongo } from '../../dev/servers/given-mongo.ts';
import { startMongo } from '../../dev/servers/mongo.ts';
import { freePort } from '../../dev/servers/ports.ts';
import { startRedis } from '../../dev/servers/redis-server.ts';
import { temporaryFolder } from '../../dev/servers/temporary-folder.ts';
import { compile } from '../../dev/stack/compile-service.ts';
import type { Config } from '../../shared/base/config.ts';
import type { Context } from '../../shared/base/context.ts';
import { type SecretsKeys, secretsKey } from '../../shared/base/encryption.ts';
import { createLogger } from '../../shared/base/logger.ts';
import { connectMongo, disconnectMongo } from '../../shared/base/mongo/connect-mongo.ts';
import { createQueues, poolNames } from '../../shared/base/queues.ts';
import { migrate } from '../../shared/process/migrate-database.ts';
import type { ClosedLoad, LoadResult, OpenLoad } from './load/load.ts';
import { watchOthers } from './measured/machine-cpu.ts';
import { type ListeningProgram, type Program, type ProgramOptions, startProgram } from './measured/program.ts';

const root = path.join(import.meta.dirname, '..', '..');
const secretsKeyBytes = Buffer.alloc(32, 7);
export const secretsKeys: SecretsKeys = [secretsKey(secretsKeyBytes)];

/** The base of every measurement: one MongoDB, one Redis, the compiled service, and this process's own connections. */
export type Stack = Awaited<ReturnType<typeof startStack>>;

type StartOptions = Partial<Pick<ProgramOptions, 'args' | 'env'>>;

/** The process that sends requests to another program. */
export type Load = Awaited<ReturnType<Stack['startLoad']>>;

/** Compiles the service and the bench's own programs, and starts the servers. */
export async function startStack(say: (line: string) => void) {
  say('compiling');
  const build = await compileBench();
  say('starting MongoDB and Redis');
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rides-bench-'));
  const given = givenMongo();
  const mongo = given
    ? { url: given.url('bench'), pid: 0, stop: given.drop }
    : await startMongo({ dataDir: path.join(folder, 'mongo') });
  const redisServer = await startRedis({ dataDir: path.join(folder, 'redis') });
  await connectMongo(mongo.url, { timeLimits: false });
  await migrate(secretsKeys);
  const redis = new Redis(redisServer.url);
  const queues = createQueues(redis, createLogger('silent', 'bench'));

  const programs = new Set<Program>();
  const start = async (name: string, script: string, { env, args = [] }: StartOptions = {}): Promise<Program> => {
    const settings = { ...serviceSettings(mongo.url, redisServer.url), ...env };
    const program = await startProgram({ name, script, build, logDir: folder, args, env: settings });
    programs.add(program);
    const stop = async () => {
      await program.stop();
      programs.delete(program);
    };
    return { ...program, stop };
  };
  const stopPrograms = async () => {
    await Promise.all([...programs].map((program) => program.stop()));
    programs.clear();
  };
  return {
    /** Its `pid` is 0 if TEST_MONGO_URL replaces the embedded engine. */
    mongo,
    redisServer,
    redis,
    queues,
    start,
    async startApi(env?: NodeJS.ProcessEnv) {
      const port = await freePort();
      return { ...(await start('api', 'api/main', { env: { ...env, PORT: String(port) } })), port };
    },
    /** Starts a worker process for each pool. */
    startPools: (env?: NodeJS.ProcessEnv, pools: readonly string[] = poolNames) =>
      Promise.all(pools.map((pool) => start(pool, 'workers/main', { args: [pool], env }))),
    /** Starts a program of the bench that chooses its own port. */
    async startListening(name: string, script: string, more?: StartOptions) {
      const program = await start(name, script, more);
      return { ...program, port: await program.ask<number>('port') };
    },
    async startLoad() {
      const load = await start('load', 'test/bench/load/load');
      type To = Pick<ListeningProgram, 'port'>;
      return {
        ...load,
        closed: ({ port }: To, options: Omit<ClosedLoad, 'port'>) =>
          load.ask<LoadResult>('closed', { ...options, port }),
        /** Resolves with the result of each phase. */
        open: ({ port }: To, options: Omit<OpenLoad, 'port'>) => load.ask<LoadResult[]>('open', { ...options, port }),
      };
    },
    /** The memory that Redis uses for data. */
    redisBytes: async () => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]),
    /** The size of the logs of these programs, in bytes. */
    async logBytes(names: readonly string[]) {
      const sizes = names.map(async (name) => (await fs.stat(path.join(folder, `${name}.log`))).size);
      return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    },
    /** Stops all running programs. */
    stopPrograms,
    /** Stops all programs, and empties MongoDB and Redis for the next measurement. */
    async clean() {
      await stopPrograms();
      await redis.flushall();
      await mongoose.connection.dropDatabase();
      await migrate(secretsKeys);
    },
    /** Calls `watchOthers` of machine-cpu.ts with the ids of this process and of all processes that it has started. */
    watchOthers: () => {
      const own = [process.pid, mongo.pid, redisServer.pid, ...[...programs].map(({ pid }) => pid)];
      return watchOthers(own.filter((pid) => pid !== 0));
    },
    async close() {
      await stopPrograms();
      await disconnectMongo();
      redis.disconnect();
      await Promise.all([mongo.stop(), redisServer.stop()]);
    },
  };
}

/** A context with only what is needed to add jobs as the service does. MongoDB has this machine's clock. */
export function producer({ queues, redis }: Pick<Stack, 'queues' | 'redis'>): Context {
  return { queues, redis, log: createLogger('silent', 'bench'), now: Date.now } as unknown as Context;
}

/** A context that can also change rides: at real speed, with time limits far in the future. */
export function actor(stack: Pick<Stack, 'queues' | 'redis'>): Context {
  const config: Partial<Config> = {
    simulationSpeed: 1,
    pickupTimeoutMs: 7_200_000,
    tripTimeoutMs: 43_200_000,
    trackBaseUrl: 'https://track.example',
  };
  return { ...producer(stack), config } as Context;
}

/**
 * Compiles the service, as for production, and the bench's programs into the project's .cache, from where they find
 * packages.
 */
async function compileBench(): Promise<string> {
  await fs.mkdir(path.join(root, '.cache'), { recursive: true });
  const folder = await temporaryFolder('bench', path.join(root, '.cache'));
  await compile(path.join(import.meta.dirname, 'tsconfig.json'), folder);
  await buildAssets(path.join(folder, 'web/kit/built'));
  return folder;
}

/** All settings are explicit, so that the caller's environment does not influence the measurement. */
function serviceSettings(mongoUrl: string, redisUrl: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    SERVICE_ENV: 'development',
    MONGO_URL: mongoUrl,
    REDIS_URL: redisUrl,
    SECRETS_KEY: secretsKeyBytes.toString('base64'),
  };
}
