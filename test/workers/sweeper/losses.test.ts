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

describe('where a queue has lost a part of its data, the sweeper', () => {
  const ctx = useTestContext();
  beforeEach(async () => {
    await ctx.redis.flushall();
    // What other tests have left waiting would be swept too.
    await Promise.all([rides.deleteMany({}), attempts.deleteMany({}), mails.deleteMany({})]);
  });

  const close: (() => Promise<void>)[] = [];
  afterEach(() => Promise.all(close.splice(0).map((end) => end())));

  const longAgo = () => new Date(Date.now() - 60_000);
  const keyOf = (pool: PoolName, name: string) => ctx.queues[pool].toKey(name);
  const lateSweep = () => sweep(ctx, { everything: false });

  /** Rides with an event that has waited for a minute, and its job. */
  async function lateEvents(count: number, context = ctx): Promise<string[]> {
    const made = Array.from({ length: count }, () => ({
      ...{ _id: newRideId(Date.now()), keyId: 'key_of_tests', trackToken: newRideId(Date.now()) },
      ...{ seq: 1, settledSeq: 0, unsettled: 1, unsettledSince: longAgo() },
    }));
    await rides.insertMany(made as unknown as Ride[]);
    await Promise.all(made.map((ride) => enqueueNextDelivery(context, ride)));
    return made.map(({ _id }) => _id);
  }

  /** Rides whose bidding should have ended a minute ago, and the delayed job for it. */
  async function lateTimers(count: number): Promise<string[]> {
    const timers: Timer[] = [{ name: 'expire', dueAt: longAgo() }];
    const made = Array.from({ length: count }, () => ({
      ...{ _id: newRideId(Date.now()), trackToken: newRideId(Date.now()) },
      ...{ timers, nextDueAt: longAgo(), seq: 0, settledSeq: 0, unsettled: 0 },
    }));
    await rides.insertMany(made as unknown as Ride[]);
    const inAnHour: Timer[] = [{ name: 'expire', dueAt: new Date(Date.now() + 3_600_000) }];
    await Promise.all(made.map((ride) => enqueueTimers(ctx, ride, inAnHour)));
    return made.map(({ _id }) => _id);
  }

  /** Starts a pool that does nothing; answers which rides it was given, when all of these were among them. */
  async function doneBy(pool: PoolName, wanted: readonly string[]): Promise<string[]> {
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

  /** Gives all jobs of a pool to a worker that dies at once. */
  async function giveToDyingWorker(pool: PoolName): Promise<void> {
    const options = { connection: ctx.redis, prefix: queuePrefix(pool), autorun: false, lockDuration: 50 };
    const worker = new Worker(pool, null, options);
    while (await worker.getNextJob('a worker that dies', { block: false }));
    await worker.close();
    await until(async () => (await ctx.redis.keys(keyOf(pool, '*:lock'))).length === 0);
  }

  for (const lost of ['wait', 'meta', 'marker', 'events', 'stalled', 'active', 'id']) {
    it(`delivers the waiting events though the key "${lost}" is gone`, async () => {
      const rideIds = await lateEvents(5);
      await ctx.redis.del(keyOf('webhooks', lost));
      await lateSweep();
      expect(await doneBy('webhooks', rideIds)).to.have.members(rideIds);
    });
  }

  for (const lost of ['delayed', 'meta', 'marker', 'events']) {
    it(`fires the timers though the key "${lost}" is gone`, async () => {
      const rideIds = await lateTimers(5);
      await ctx.redis.del(keyOf('bidding', lost));
      await lateSweep();
      expect(await doneBy('bidding', rideIds)).to.have.members(rideIds);
    });
  }

  for (const lost of ['active', 'stalled']) {
    it(`gives the jobs of a dead worker to another though the key "${lost}" is gone`, async () => {
      const rideIds = await lateEvents(5);
      await giveToDyingWorker('webhooks');
      await ctx.redis.del(keyOf('webhooks', lost));
      await lateSweep();
      expect(await doneBy('webhooks', rideIds)).to.have.members(rideIds);
    });
  }

  it('adds the jobs whose hashes are gone', async () => {
    const rideIds = await lateEvents(5);
    const timed = await lateTimers(5);
    for (const pool of ['webhooks', 'bidding'] as const) {
      await ctx.redis.del(await ctx.redis.keys(keyOf(pool, '[0-9]*')));
    }
    await lateSweep();
    expect(await doneBy('webhooks', rideIds)).to.include.members(rideIds);
    expect(await doneBy('bidding', timed)).to.include.members(timed);
  });

  it('adds what is gone from a list that holds other jobs by now', async () => {
    const before = await lateEvents(20);
    await ctx.redis.del(keyOf('webhooks', 'wait'));
    const after = await lateEvents(20);
    const { deliveries } = await lateSweep();
    expect(deliveries).to.equal(20);
    const given = await doneBy('webhooks', [...before, ...after]);
    expect(given).to.have.length(40);
  });

  it('adds what is gone from a list that is too long to be read by now, and only that', async () => {
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

  it('adds the events whose jobs were overwritten when job ids began again from 1', async () => {
    const before = await lateEvents(20);
    await ctx.redis.del(keyOf('webhooks', 'id'));
    const after = await lateEvents(20);
    await lateSweep();
    expect(await doneBy('webhooks', [...before, ...after])).to.include.members([...before, ...after]);
  });

  it('keeps job ids from being used twice', async () => {
    await lateSweep();
    const before = await lateEvents(5);
    await ctx.redis.del(keyOf('webhooks', 'id'));
    const after = await lateEvents(5);
    await lateSweep();
    const all = [...before, ...after, ...(await lateEvents(5))];
    expect(await doneBy('webhooks', all)).to.have.members(all);
  });

  it('removes the remains of lost jobs', async () => {
    const rideIds = await lateEvents(5);
    await ctx.redis.del(keyOf('webhooks', 'wait'));
    await lateSweep();
    expect(await ctx.redis.keys(keyOf('webhooks', '[0-9]*'))).to.have.length(rideIds.length);
  });
});
