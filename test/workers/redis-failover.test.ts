import { expect } from 'chai';
import { Redis } from 'ioredis';
import { addJob } from '../../shared/base/queues.ts';
import { newRide } from '../support/rides.ts';
import { endBidding, storedRide } from '../support/stored-rides.ts';
import { startSwitch } from '../support/switch.ts';
import { until } from '../support/until.ts';
import { useRedis } from '../support/use-redis.ts';
import { useStarted } from '../support/use-started.ts';
import { useTestService } from '../support/workers.ts';

describe('a failover of Redis after which all connections lead to a replica', () => {
  const [first, second] = [useRedis(), useRedis()];
  const address = useStarted(() => startSwitch(Number(new URL(first.url).port)));
  const service = useTestService(() => ({ REDIS_URL: `redis://127.0.0.1:${address.port}` }), ['bidding']);
  before(async () => {
    address.leadTo(Number(new URL(second.url).port));
    const redis = new Redis(first.url);
    // Makes this Redis a replica of a primary that never answers.
    await redis.replicaof('127.0.0.1', 1);
    redis.disconnect();
  });

  it('commands and workers reconnect to the new primary after a Redis failover', async () => {
    const { ctx } = service;
    const rideId = await newRide(ctx);
    await endBidding(rideId);
    const id = `${rideId}_expire`;
    const job = { id, name: id, data: { rideId, timer: 'expire' as const } };
    // The add is repeated, because the replica refuses the first one. In production, the sweeper would add the job.
    await until(() => addJob(ctx, 'bidding', job));
    await until(async () => (await storedRide(rideId)).status === 'cancelled');
    expect(await ctx.redis.info('replication')).to.include('role:master');
  });
});
