import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMongo } from '../../dev/servers/mongo.ts';
import { startRedis } from '../../dev/servers/redis.ts';
import type { RunningServer } from '../../dev/servers/running-server.ts';

/**
 * The run's own MongoDB engine and Redis, on ports and data of their own, for all tests. Their addresses go through the
 * environment, which is where every process of this project looks for them.
 */
let folder: string;
const servers: RunningServer[] = [];

export async function mochaGlobalSetup(): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'rides-test-'));
  const mongo = await startMongo({ dataDir: join(folder, 'mongo') });
  servers.push(mongo);
  const redis = await startRedis({ dataDir: join(folder, 'redis'), hz: 100 });
  servers.push(redis);
  process.env.TEST_MONGO_URL = mongo.url;
  process.env.TEST_REDIS_URL = redis.url;
}

export async function mochaGlobalTeardown(): Promise<void> {
  await Promise.allSettled(servers.map((server) => server.stop()));
  await rm(folder, { recursive: true, force: true });
}
