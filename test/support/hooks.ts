import { rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { prepareTests } from '../../dev/servers/faketime.ts';
import { givenMongo, versionOfMongo } from '../../dev/servers/given-mongo.ts';
import { startMongo } from '../../dev/servers/mongo.ts';
import { startRedis } from '../../dev/servers/redis-server.ts';
import { compileService } from '../../dev/stack/compile-service.ts';
import { measureSpeed, scaleLimits } from './machine-speed.ts';
import { startReplicaSet } from './replica-set.ts';
import { endWithDescendants, startRun } from './run.ts';

/**
 * Each mocha process has its own MongoDB engine and Redis, on free ports and in the run's folder. Their addresses are in
 * TEST_RUN_MONGO_URL and TEST_REDIS_URL, where `testConfig` finds them. With TEST_MONGO=replica-set, the engine is the
 * primary of a replica set. With TEST_MONGO_URL, each process has its own database on that server instead. The service is compiled once into TEST_BUILD, from where `serviceProcess` starts processes.
 */
type Servers = { TEST_RUN_MONGO_URL: string; TEST_REDIS_URL: string };

const stops: (() => Promise<void>)[] = [];

/** Runs once, in the process that starts the workers. Without --parallel, that process also runs the tests. */
export async function mochaGlobalSetup(this: { isParallelMode(): boolean }): Promise<void> {
  const given = givenMongo();
  const count = this.isParallelMode() ? workerCount() : 1;
  const [build, , ...servers] = await Promise.all([
    compileService(),
    prepareTests(console.error),
    ...Array.from({ length: count }, (_, index) => startServers(join(tmpdir(), `${index}`), given?.url(`${index}`))),
  ]);
  stops.push(() => rm(build, { recursive: true, force: true }));
  Object.assign(process.env, servers[0], { TEST_BUILD: build });
  console.log(await versionOfMongo(servers[0]?.TEST_RUN_MONGO_URL ?? ''));
  if (given) stops.push(given.drop);
  process.env.TEST_SERVERS = JSON.stringify(servers);
}

/** The most workers that mocha starts: `--jobs` of the command line, or mocha's default. */
function workerCount(): number {
  const { jobs } = parseArgs({ options: { jobs: { type: 'string', short: 'j' } }, strict: false }).values;
  return Number(jobs ?? Math.max(1, cpus().length - 1));
}

/** Runs in each of mocha's processes, before the tests of each file. */
export const mochaHooks = {
  beforeAll(this: Mocha.Context) {
    scaleLimits(this.test?.parent as Mocha.Suite);
  },
};

export async function mochaGlobalTeardown(): Promise<void> {
  await Promise.allSettled(stops.map((stop) => stop()));
}

async function startServers(dataDir: string, givenUrl?: string): Promise<Servers> {
  const [mongo, redis] = await Promise.all([
    givenUrl ? { url: givenUrl, stop: async () => {} } : startMongo({ dataDir: join(dataDir, 'mongo') }),
    startRedis({ dataDir: join(dataDir, 'redis'), hz: 100 }),
  ]);
  stops.push(mongo.stop, redis.stop);
  let { url } = mongo;
  if (process.env.TEST_MONGO === 'replica-set') {
    if (givenUrl) throw new Error('the simulated replica set needs the embedded engine: unset TEST_MONGO_URL');
    const replicaSet = await startReplicaSet(mongo.url, { majorityMs: 3 });
    stops.unshift(replicaSet.close);
    url = replicaSet.url;
  }
  return { TEST_RUN_MONGO_URL: url, TEST_REDIS_URL: redis.url };
}

/** Mocha also loads this file in each worker, and numbers the workers from 0. */
const worker = process.env.MOCHA_WORKER_ID;
if (worker === undefined) {
  // Before the test files are loaded, because they compute limits from it.
  measureSpeed();
  startRun();
} else {
  endWithDescendants();
  Object.assign(process.env, JSON.parse(process.env.TEST_SERVERS ?? '[]')[Number(worker)]);
}
