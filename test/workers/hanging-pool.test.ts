import { once } from 'node:events';
import type { Worker } from 'bullmq';
import { expect } from 'chai';
import type { Context } from '../../shared/base/context.ts';
import { pingMongo } from '../../shared/base/mongo/connect-mongo.ts';
import { addJob } from '../../shared/base/queues.ts';
import { connectWorkerRedis } from '../../shared/base/redis/redis.ts';
import type { RedisClient } from '../../shared/base/redis/redis-nodes.ts';
import { type OpsServer, startOpsServer } from '../../shared/process/ops/ops-server.ts';
import { assertNoPoolHangs, createHeartbeat, stalledText, startPool } from '../../workers/pools.ts';
import { withLogLines } from '../support/log-lines.ts';
import { ask } from '../support/redis-group.ts';
import { newRide } from '../support/rides.ts';
import { testContext } from '../support/service.ts';
import { endBidding, storedRide } from '../support/stored-rides.ts';
import { type Switch, startSwitch } from '../support/switch.ts';
import { until } from '../support/until.ts';
import { useRedis } from '../support/use-redis.ts';

describe('the readiness of a worker process', () => {
  const silentMs = 60_000;
  let ctx: Context;
  let redisSwitch: Switch;
  let connection: RedisClient;
  let worker: Worker;
  let ops: OpsServer | null;
  let clock = 0;

  before(async () => {
    ctx = await testContext({ OPS_PORT: '0' });
    await ctx.redis.flushall();
    redisSwitch = await startSwitch(Number(new URL(ctx.config.secrets.redisUrl).port));
    connection = connectWorkerRedis(`redis://127.0.0.1:${redisSwitch.port}`, ctx.log);
    const heartbeat = createHeartbeat(() => clock);
    worker = startPool(ctx, connection, 'bidding', 1, heartbeat);
    ops = await startOpsServer(ctx, {
      processName: 'bidding',
      checks: {
        mongo: pingMongo,
        redis: () => ctx.redis.ping(),
        pools: () => assertNoPoolHangs({ bidding: heartbeat }),
      },
    });
  });
  after(async () => {
    await worker.close(true);
    connection.disconnect();
    redisSwitch.close();
    await ops?.close();
    await ctx.close();
  });

  const statusOf = async (path: string) => (await fetch(`http://127.0.0.1:${ops?.port}${path}`)).status;

  async function runOneJob(): Promise<void> {
    const rideId = await newRide(ctx);
    await endBidding(rideId);
    await addJob(ctx, 'bidding', { id: rideId, name: rideId, data: { rideId, timer: 'expire' } });
    await until(async () => (await storedRide(rideId)).status === 'cancelled');
  }

  it('a worker process is not ready while a pool fetches no jobs, even if MongoDB and Redis answer', async () => {
    await runOneJob();
    expect(await statusOf('/readyz')).to.equal(200);
    clock += silentMs;
    await runOneJob();
    await until(async () => (await statusOf('/readyz')) === 200);

    redisSwitch.hang();
    await until(async () => {
      // A reply that is already in transit may still arrive.
      clock += silentMs;
      return (await statusOf('/readyz')) === 503;
    });
    expect(await statusOf('/healthz')).to.equal(200);
    expect(await ctx.redis.ping()).to.equal('PONG');
    await pingMongo();
  });
});

describe('the log line of a stalled job', () => {
  const server = useRedis();

  it('a stalled job is blamed on Redis if Redis returned a moment ago, and on its worker otherwise', () => {
    expect(stalledText(9_999)).to.include('Redis was away');
    for (const sinceReturnMs of [10_000, Number.POSITIVE_INFINITY]) {
      expect(stalledText(sinceReturnMs)).to.include('its worker has ended, hangs, or does not reach Redis');
    }
  });

  it('the first connection of a process does not count as a return of Redis', async () => {
    const { ctx: base, lines } = withLogLines(await testContext());
    const connection = connectWorkerRedis(server.url, base.log);
    const worker = startPool(base, connection, 'bidding', 1);
    await until(async () => connection.status === 'ready');
    worker.emit('stalled', 'first', 'active');
    const left = once(connection, 'close');
    await ask(server, 'CLIENT', 'KILL', 'TYPE', 'normal');
    await left;
    await until(async () => connection.status === 'ready');
    worker.emit('stalled', 'second', 'active');
    const said = lines.filter(({ msg }) => msg.startsWith('job stalled')).map(({ jobId, msg }) => [jobId, msg]);
    expect(said).to.deep.equal([
      ['first', stalledText(Number.POSITIVE_INFINITY)],
      ['second', stalledText(0)],
    ]);
    await worker.close(true);
    connection.disconnect();
    await base.close();
  });
});
