import { type Job, Worker } from 'bullmq';
import { expect } from 'chai';
import { newRideId } from '../../../shared/base/ids.ts';
import { type PoolName, queuePrefix } from '../../../shared/base/queues.ts';
import { connectWorkerRedis } from '../../../shared/base/redis/redis.ts';
import { mails } from '../../../shared/mail/mail-row.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { enqueueNextDelivery, enqueueTimers } from '../../../shared/rides/ride-jobs.ts';
import type { Ride, Timer } from '../../../shared/rides/ride-types.ts';
import { attempts } from '../../../shared/webhooks/attempts.ts';
import { sweep } from '../../../workers/periodic/sweeper/sweep.ts';
import { useTestContext } from '../../support/service.ts';
import { until } from '../../support/until.ts';

/** Every stored ride has its two places: a start of the service on the same database reads them. */
const places = { pickup: { lat: 40.758, lng: -73.9855 }, destination: { lat: 40.7128, lng: -74.006 } };

describe('sweeper after a partial loss of Redis data', () => {
  const ctx = useTestContext();
  beforeEach(async () => {
    await ctx.redis.flushall();
    // Deletes leftovers of other tests, which would be swept too.
    await Promise.all([rides.deleteMany({}), attempts.deleteMany({}), mails.deleteMany({})]);
  });

  const close: (() => Promise<void>)[] = [];
  afterEach(() => Promise.all(close.splice(0).map((end) => end())));

  const longAgo = () => new Date(Date.now() - 60_000);
  const keyOf = (pool: PoolName, name: string) => ctx.queues[pool].toKey(name);
  const lateSweep = () => sweep(ctx, { everything: false });

  /** Creates rides with an event that has waited for a minute, together with its job. */
  async function lateEvents(count: number, context = ctx): Promise<string[]> {
    const made = Array.from({ length: count }, () => ({
      ...{ _id: newRideId(Date.now()), keyId: 'key_of_tests', trackToken: newRideId(Date.now()), ...places },
      ...{ seq: 1, settledSeq: 0, unsettled: 1, unsettledSince: longAgo(), timers: [] },
    }));
    await rides.insertMany(made as unknown as Ride[]);
    await Promise.all(made.map((ride) => enqueueNextDelivery(context, ride)));
    return made.map(({ _id }) => _id);
  }

  /** Creates rides whose bidding time should have ended a minute ago, with a job that is delayed by an hour. */
  async function lateTimers(count: number): Promise<string[]> {
    const timers: Timer[] = [{ name: 'expire', dueAt: longAgo() }];
    const made = Array.from({ length: count }, () => ({
      ...{ _id: newRideId(Date.now()), trackToken: newRideId(Date.now()), ...places },
      ...{ timers, nextDueAt: longAgo(), seq: 0, settledSeq: 0, unsettled: 0 },
    }));
    await rides.insertMany(made as unknown as Ride[]);
    const inAnHour: Timer[] = [{ name: 'expire', dueAt: new Date(Date.now() + 3_600_000) }];
    await Promise.all(made.map((ride) => enqueueTimers(ctx, ride, inAnHour)));
    return made.map(({ _id }) => _id);
  }

  /** Starts a worker that only collects the ride ids of its jobs. Resolves with them once they include all `wanted`. */
  async function collectRideIds(pool: PoolName, wanted: readonly string[]): Promise<string[]> {
    const given: string[] = [];
    const connection = connectWorkerRedis(ctx.config.secrets.redisUrl, ctx.log);
    const worker = new Worker(pool, async ({ data }: Job) => void given.push(data.rideId), {
      ...{ connection, prefix: queuePrefix(pool), drainDelay: 0.05, stalledInterval: 50, concurrency: 10 },
    });
    worker.on('error', () => {});
    close.push(async () => {
      await worker.close();
      connection.disconnect();
    });
    await until(async () => wanted.every((rideId) => given.includes(rideId)));
    return given;
  }

  /** Lets a worker fetch all jobs of a pool and die. */
  async function giveToDyingWorker(pool: PoolName): Promise<void> {
    const options = { connection: ctx.redis, prefix: queuePrefix(pool), autorun: false, lockDuration: 50 };
    const worker = new Worker(pool, null, options);
    while (await worker.getNextJob('a worker that dies', { block: false }));
    await worker.close();
    await until(async () => (await ctx.redis.keys(keyOf(pool, '*:lock'))).length === 0);
  }

  for (const lost of ['wait', 'meta', 'marker', 'events', 'stalled', 'active', 'id']) {
    it(`waiting events are delivered after the queue lost its key "${lost}"`, async () => {
      const rideIds = await lateEvents(5);
      await ctx.redis.del(keyOf('webhooks', lost));
      await lateSweep();
      expect(await collectRideIds('webhooks', rideIds)).to.have.members(rideIds);
    });
  }

  for (const lost of ['delayed', 'meta', 'marker', 'events']) {
    it(`timers fire after the queue lost its key "${lost}"`, async () => {
      const rideIds = await lateTimers(5);
      await ctx.redis.del(keyOf('bidding', lost));
      await lateSweep();
      expect(await collectRideIds('bidding', rideIds)).to.have.members(rideIds);
    });
  }

  for (const lost of ['active', 'stalled']) {
    it(`another worker runs a dead worker's jobs after the queue lost its key "${lost}"`, async () => {
      const rideIds = await lateEvents(5);
      await giveToDyingWorker('webhooks');
      await ctx.redis.del(keyOf('webhooks', lost));
      await lateSweep();
      expect(await collectRideIds('webhooks', rideIds)).to.have.members(rideIds);
    });
  }

  it('the sweeper adds jobs whose hashes are lost', async () => {
    const rideIds = await lateEvents(5);
    const timed = await lateTimers(5);
    for (const pool of ['webhooks', 'bidding'] as const) {
      await ctx.redis.del(await ctx.redis.keys(keyOf(pool, '[0-9]*')));
    }
    await lateSweep();
    expect(await collectRideIds('webhooks', rideIds)).to.include.members(rideIds);
    expect(await collectRideIds('bidding', timed)).to.include.members(timed);
  });

  it('the sweeper adds lost jobs even if the list holds newer jobs', async () => {
    const before = await lateEvents(20);
    await ctx.redis.del(keyOf('webhooks', 'wait'));
    const after = await lateEvents(20);
    const { deliveries } = await lateSweep();
    expect(deliveries).to.equal(20);
    const given = await collectRideIds('webhooks', [...before, ...after]);
    expect(given).to.have.length(40);
  });

  it('the sweeper adds only the lost jobs, even if the list is too long to be read completely', async () => {
    const aMinuteAgo = { ...ctx, now: () => ctx.now() - 60_000 };
    const before = await lateEvents(300, aMinuteAgo);
    await ctx.redis.del(keyOf('webhooks', 'wait'));
    await lateEvents(1_100);
    const waiting = () => ctx.redis.llen(keyOf('webhooks', 'wait'));
    const longer = await waiting();
    await lateSweep();
    await lateSweep();
    expect(await waiting()).to.equal(longer + before.length);
  });

  it('the sweeper adds jobs that were overwritten because job ids started from 1 again', async () => {
    const before = await lateEvents(20);
    await ctx.redis.del(keyOf('webhooks', 'id'));
    const after = await lateEvents(20);
    await lateSweep();
    expect(await collectRideIds('webhooks', [...before, ...after])).to.include.members([...before, ...after]);
  });

  it('the sweeper prevents a job id from being used twice', async () => {
    await lateSweep();
    const before = await lateEvents(5);
    await ctx.redis.del(keyOf('webhooks', 'id'));
    const after = await lateEvents(5);
    await lateSweep();
    const all = [...before, ...after, ...(await lateEvents(5))];
    expect(await collectRideIds('webhooks', all)).to.have.members(all);
  });

  it('the sweeper removes the leftover hashes of lost jobs', async () => {
    const rideIds = await lateEvents(5);
    await ctx.redis.del(keyOf('webhooks', 'wait'));
    await lateSweep();
    expect(await ctx.redis.keys(keyOf('webhooks', '[0-9]*'))).to.have.length(rideIds.length);
  });
});
