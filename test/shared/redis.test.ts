import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { createLogger } from '../../shared/logger.ts';
import { connectRedis, connectWorkerRedis, redisReady } from '../../shared/redis.ts';
import { startClusterNode } from '../support/redis-group.ts';
import type { Restartable } from '../support/restartable.ts';

describe('a Redis Cluster that lacks slots, so that it refuses commands', () => {
  const log = createLogger('silent', 'test');
  let folder: string;
  let node: Restartable;
  let url: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rides-redis-'));
    ({ node } = await startClusterNode(folder));
    const redis = new Redis(node.url);
    await redis.call('CLUSTER', 'ADDSLOTSRANGE', 0, 16_382);
    redis.disconnect();
    url = node.url.replace('redis://', 'redis-cluster://');
  });
  after(async () => {
    await node.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('lets a connection be renewed: BullMQ waits for that', async () => {
    const redis = connectWorkerRedis(url, log);
    await redisReady(redis, 10_000);
    redis.disconnect();
    await once(redis, 'end');
    await redis.connect();
    expect(redis.status).to.equal('ready');
    redis.disconnect();
  });

  it('fails a command at once', async () => {
    const redis = connectRedis(url, log);
    await redisReady(redis, 10_000);
    const error = await redis.get('a').catch(({ message }: Error) => message);
    expect(error).to.include('CLUSTERDOWN');
    redis.disconnect();
  });
});
