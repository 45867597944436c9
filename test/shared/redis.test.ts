import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import { startRedis } from '../../dev/servers/redis-server.ts';
import type { Context } from '../../shared/base/context.ts';
import { createLogger } from '../../shared/base/logger.ts';
import { connectRedis, connectWorkerRedis, redisReady } from '../../shared/base/redis/redis.ts';
import { pingRedis } from '../../shared/base/redis/redis-nodes.ts';
import { useFolder } from '../support/folder.ts';
import { withLogLines } from '../support/log-lines.ts';
import { scaled } from '../support/machine-speed.ts';
import { ask, startClusterNode } from '../support/redis-group.ts';
import { type Restartable, restartable } from '../support/restartable.ts';
import { until } from '../support/until.ts';
import { useRedis } from '../support/use-redis.ts';
import { useStarted } from '../support/use-started.ts';

const clusterUrl = ({ url }: Restartable): string => url.replace('redis://', 'redis-cluster://');

describe('a Redis Cluster with unassigned slots, which refuses commands', () => {
  const log = createLogger('silent', 'test');
  const folder = useFolder();
  const cluster = useStarted(async () => {
    const { node } = await startClusterNode(folder.path);
    await ask(node, 'CLUSTER', 'ADDSLOTSRANGE', 0, 16_382);
    return { url: clusterUrl(node), close: node.stop };
  });

  it('connect() to a cluster that is down resolves after a disconnection, because BullMQ waits for it', async () => {
    const redis = connectWorkerRedis(cluster.url, log);
    await redisReady(redis, 10_000);
    redis.disconnect();
    await once(redis, 'end');
    await redis.connect();
    expect(redis.status).to.equal('ready');
    redis.disconnect();
  });

  it('a command to a cluster that is down is rejected at once', async () => {
    const redis = connectRedis(cluster.url, log);
    await redisReady(redis, 10_000);
    const error = await redis.get('a').catch(({ message }: Error) => message);
    expect(error).to.include('CLUSTERDOWN');
    redis.disconnect();
  });
});

describe('a Redis Cluster of two primaries without replicas', () => {
  const log = createLogger('silent', 'test');
  const folder = useFolder();
  const cluster = useStarted(async () => {
    const start = (name: string) => startClusterNode(join(folder.path, name));
    const [{ node: one }, { node: two, busPort }] = await Promise.all([start('one'), start('two')]);
    await ask(one, 'CLUSTER', 'ADDSLOTSRANGE', 0, 8_191);
    await ask(two, 'CLUSTER', 'ADDSLOTSRANGE', 8_192, 16_383);
    await ask(one, 'CLUSTER', 'MEET', '127.0.0.1', new URL(two.url).port, busPort);
    await until(async () => (await ask(one, 'CLUSTER', 'INFO')).includes('cluster_state:ok'));
    return { url: clusterUrl(one), two, close: () => Promise.all([one.stop(), two.stop()]) };
  });

  it('the ping of a cluster fails while one primary is down, and succeeds when the primary is back', async () => {
    const redis = connectRedis(cluster.url, log);
    const answers = () =>
      pingRedis(redis).then(
        () => true,
        () => false,
      );
    await until(answers);
    await cluster.two.kill();
    await until(async () => !(await answers()));
    // Waits until the client has read the slots again, now without the killed node. The ping must still fail.
    await once(redis, 'refresh');
    expect(await answers()).to.equal(false);
    await cluster.two.start();
    await until(answers);
    redis.disconnect();
  });

  it('a process can exit after a cluster connection closes while it reads the slots', async () => {
    const script = `
      const { connectRedis } = await import('./shared/base/redis/redis.ts');
      const { createLogger } = await import('./shared/base/logger.ts');
      const redis = connectRedis(process.env.ADDRESS, createLogger('silent', 'test'));
      const refresh = redis.refreshSlotsCache;
      redis.once('ready', () => {
        redis.refreshSlotsCache = function (done) {
          redis.refreshSlotsCache = refresh;
          this.refreshSlotsCache(done);
          this.disconnect();
        };
      });`;
    const args = ['--import', 'tsx', '--input-type=module', '--eval', script];
    const env = { ...process.env, ADDRESS: cluster.url };
    const child = spawn(process.execPath, args, { stdio: 'inherit', timeout: scaled(30_000), env });
    expect(await once(child, 'exit')).to.deep.equal([0, null]);
  });
});

describe('a Redis that refuses writes because it is a replica', () => {
  const log = createLogger('silent', 'test');
  const server = useRedis();
  const { now } = performance;
  beforeEach(() => ask(server, 'REPLICAOF', '127.0.0.1', 1));
  afterEach(() => {
    performance.now = now;
  });

  it('after READONLY, the client rejects each write, and reconnects at most once a second', async () => {
    const redis = connectRedis(server.url, log);
    const refused = async () => {
      await redisReady(redis, 10_000);
      expect(await redis.set('a', 1).catch(({ message }: Error) => message)).to.include('READONLY');
    };
    let nowMs = 0;
    performance.now = () => nowMs;
    const left = once(redis, 'close');
    await refused();
    await left;
    nowMs = 999;
    await refused();
    expect(await redis.ping()).to.equal('PONG');
    const leftAgain = once(redis, 'close');
    nowMs = 1_000;
    await refused();
    await leftAgain;
    redis.disconnect();
  });

  it('a waiting worker receives a job once its Redis replica has become a primary', async () => {
    await ask(server, 'CONFIG', 'RESETSTAT');
    const redis = connectWorkerRedis(server.url, log);
    const job = redis.blpop('jobs', 0);
    await until(async () => (await ask(server, 'INFO', 'errorstats')).includes('READONLY'));
    await ask(server, 'REPLICAOF', 'NO', 'ONE');
    await ask(server, 'RPUSH', 'jobs', 'first');
    expect(await job).to.deep.equal(['jobs', 'first']);
    redis.disconnect();
  });
});

describe('the connection to a Redis server', () => {
  const server = useRedis();

  it('the client writes the commands of one turn of the event loop together, also after it has reconnected', async () => {
    const redis = connectRedis(server.url, createLogger('silent', 'test')) as Redis;
    const writesForThreePings = async () => {
      await redisReady(redis, 10_000);
      let writes = 0;
      for (const name of ['_write', '_writev'] as const) {
        const write = redis.stream[name] as (...args: unknown[]) => void;
        redis.stream[name] = (...args: unknown[]) => {
          writes += 1;
          write.apply(redis.stream, args);
        };
      }
      await Promise.all([redis.ping(), redis.ping(), redis.ping()]);
      return writes;
    };
    expect(await writesForThreePings()).to.equal(1);
    const closed = once(redis, 'close');
    redis.stream.destroy();
    await closed;
    expect(await writesForThreePings()).to.equal(1);
    redis.disconnect();
  });
});

describe('a Redis that stops and starts again', () => {
  const folder = useFolder();

  it('an outage of Redis writes one log line at its start and one at its end, however often the client reconnects', async () => {
    const { ctx, lines } = withLogLines({} as Context);
    const server = await restartable((url) =>
      startRedis({ dataDir: folder.path, port: url ? Number(new URL(url).port) : undefined }),
    );
    const redis = connectRedis(server.url, ctx.log);
    await redisReady(redis, 10_000);
    let failures = 0;
    redis.on('error', () => {
      failures += 1;
    });
    await server.kill();
    await until(async () => failures >= 3);
    await server.start();
    await redisReady(redis, 10_000);
    expect(lines.map(({ msg }) => msg)).to.deep.equal(['redis is unreachable', 'redis is reachable again']);
    redis.disconnect();
    await server.stop();
  });
});
