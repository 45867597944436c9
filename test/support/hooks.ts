import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildAssets } from '../../api/pages/build-assets.ts';
import { startMongo } from '../../dev/servers/mongo.ts';
import { startRedis } from '../../dev/servers/redis.ts';
import { startReplicaSet } from './replica-set.ts';

/**
 * The run's own MongoDB engine and Redis, on ports and data of their own, for all tests. Their addresses go through the
 * environment, which is where every process of this project looks for them. With TEST_MONGO=replica-set the engine is the
 * primary of a replica set.
 */
let folder: string;
const stops: (() => Promise<void>)[] = [];

export async function mochaGlobalSetup(): Promise<void> {
  await buildAssets();
  folder = await mkdtemp(join(tmpdir(), 'rides-test-'));
  const mongo = await startMongo({ dataDir: join(folder, 'mongo') });
  stops.push(mongo.stop);
  const redis = await startRedis({ dataDir: join(folder, 'redis'), hz: 100 });
  stops.push(redis.stop);
  process.env.TEST_MONGO_URL = mongo.url;
  if (process.env.TEST_MONGO === 'replica-set') {
    const replicaSet = await startReplicaSet(mongo.url, { majorityMs: 3 });
    stops.unshift(replicaSet.close);
    process.env.TEST_MONGO_URL = replicaSet.url;
  }
  process.env.TEST_REDIS_URL = redis.url;
}

export async function mochaGlobalTeardown(): Promise<void> {
  await Promise.allSettled(stops.map((stop) => stop()));
  await rm(folder, { recursive: true, force: true });
}
