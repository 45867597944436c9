import { join } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { startRedis } from '../../dev/servers/redis.ts';
import type { RunningServer } from '../../dev/servers/running-server.ts';
import { addJob } from '../../shared/base/queues.ts';
import { useFolder } from '../support/folder.ts';
import { newRide } from '../support/rides.ts';
import type { TestApi } from '../support/service.ts';
import { endBidding, storedRide } from '../support/stored-rides.ts';
import { type Switch, startSwitch } from '../support/switch.ts';
import { until } from '../support/until.ts';
import { startTestService } from '../support/workers.ts';

describe('a failover of Redis that leaves every connection with a replica', () => {
  const folder = useFolder();
  let servers: RunningServer[];
  let address: Switch;
  let service: TestApi;
  let first: Redis;

  before(async () => {
    servers = await Promise.all(['first', 'second'].map((name) => startRedis({ dataDir: join(folder.path, name) })));
    const [firstPort = 0, secondPort = 0] = servers.map(({ url }) => Number(new URL(url).port));
    address = await startSwitch(firstPort);
    first = new Redis(firstPort);
    service = await startTestService({ REDIS_URL: `redis://127.0.0.1:${address.port}` }, ['bidding']);
    address.leadTo(secondPort);
    // A replica whose primary never answers.
    await first.replicaof('127.0.0.1', 1);
  });
  after(async () => {
    await service.close();
    first.disconnect();
    address.close();
    await Promise.all(servers.map((server) => server.stop()));
  });

  it('is followed by every command and every worker', async () => {
    const { ctx } = service;
    const rideId = await newRide(ctx);
    await endBidding(rideId);
    const id = `${rideId}_expire`;
    const job = { id, name: id, data: { rideId, timer: 'expire' as const } };
    // The first add is refused; the sweeper would add what it left out.
    await until(() => addJob(ctx, 'bidding', job));
    await until(async () => (await storedRide(rideId)).status === 'cancelled');
    expect(await ctx.redis.info('replication')).to.include('role:master');
  });
});
