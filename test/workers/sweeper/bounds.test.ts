import { expect } from 'chai';
import type { Context } from '../../../shared/base/context.ts';
import { newRideId } from '../../../shared/base/ids.ts';
import { type DeliveryJob, poolNames } from '../../../shared/base/queues.ts';
import { mails } from '../../../shared/mail/mail-row.ts';
import { sweptKey } from '../../../shared/process/ops/full-sweep.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { enqueueNextDelivery } from '../../../shared/rides/ride-jobs.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { attempts } from '../../../shared/webhooks/attempts.ts';
import { acquireLease } from '../../../workers/periodic/lease.ts';
import { progressKey } from '../../../workers/periodic/sweeper/progress.ts';
import { startSweeper } from '../../../workers/periodic/sweeper/sweeper.ts';
import { sweeperLeaseKey, takeSweepTurn } from '../../../workers/periodic/sweeper/turn.ts';
import { newRide } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { jobFor, makeDue } from '../../support/stored-rides.ts';
import { until } from '../../support/until.ts';

const intervalMs = 60_000;

describe('the sweeper', () => {
  const ctx = useTestContext();
  const { find } = rides;
  beforeEach(async () => {
    await ctx.redis.flushall();
    // What other tests have left waiting would be swept too.
    await Promise.all([rides.deleteMany({}), attempts.deleteMany({}), mails.deleteMany({})]);
  });
  afterEach(() => {
    rides.find = find;
  });

  const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000);
  const turn = (more: { lastLossAt?: number; redisReturnedAt?: number; soonMs?: number } = {}) => {
    const times = { now: Date.now(), lastLossAt: 0, redisReturnedAt: 0, intervalMs, soonMs: intervalMs, ...more };
    return takeSweepTurn(ctx, { ...times, signal: new AbortController().signal });
  };
  const intervalIsOver = () => ctx.redis.del(sweeperLeaseKey);
  /** Redis has its data, as far as the sweeper knows. */
  const everythingIsSwept = () => ctx.redis.set(sweptKey, Date.now());

  /** Rides with an event that has waited, each a second longer than the next one. */
  async function lateEvents(count: number): Promise<Ride[]> {
    const made = Array.from({ length: count }, (_, index) => ({
      ...{ _id: newRideId(Date.now()), keyId: 'key_of_tests', trackToken: newRideId(Date.now()) },
      ...{ seq: 1, settledSeq: 0, unsettled: 1, unsettledSince: secondsAgo(60 + count - index) },
    })) as unknown as Ride[];
    // In another order than that of their age.
    await rides.insertMany([...made].sort((a, b) => (a._id < b._id ? 1 : -1)));
    return made;
  }

  /** The rides that were looked at, stretch by stretch. */
  function watchFinds(): string[] {
    const found: string[] = [];
    rides.find = ((...args: Parameters<typeof rides.find>) => {
      const cursor = Reflect.apply(find, rides, args) as ReturnType<typeof rides.find>;
      const toArray = cursor.toArray.bind(cursor);
      cursor.toArray = async () => {
        const answer = await toArray();
        found.push(...answer.map(({ _id }) => String(_id)));
        return answer;
      };
      return cursor;
    }) as typeof rides.find;
    return found;
  }

  /** Every add takes a new job id, also one that BullMQ swallows. */
  const addsSoFar = async () => {
    const counts = await Promise.all(poolNames.map((pool) => ctx.redis.get(ctx.queues[pool].toKey('id'))));
    return counts.reduce((sum, count) => sum + Number(count) - 1, 0);
  };

  describe('keeps the lease', () => {
    it('to itself: a process that has lost it neither renews it nor ends it', async () => {
      const lost = await acquireLease(ctx.redis, { key: sweeperLeaseKey });
      await ctx.redis.set(sweeperLeaseKey, 'another process', 'PX', 60_000);
      expect(await lost?.keep()).to.equal(false);
      await lost?.rest(1);
      expect(await ctx.redis.get(sweeperLeaseKey)).to.equal('another process');
      expect(await ctx.redis.pttl(sweeperLeaseKey)).to.be.above(50_000);
    });

    it('for as long as it renews it', async () => {
      const lease = await acquireLease(ctx.redis, { key: sweeperLeaseKey });
      await ctx.redis.pexpire(sweeperLeaseKey, 500);
      expect(await lease?.keep()).to.equal(true);
      expect(await ctx.redis.pttl(sweeperLeaseKey)).to.be.above(500);
      await ctx.redis.del(sweeperLeaseKey);
      expect(await lease?.keep()).to.equal(false);
    });
  });

  describe('costs the same for one process and for many', () => {
    it('sweeps once in an interval, however many processes take their turn', async () => {
      await everythingIsSwept();
      await lateEvents(1);
      const found = watchFinds();
      await Promise.all(Array.from({ length: 20 }, () => turn()));
      expect(found).to.have.length(1);
      for (let times = 0; times < 20; times++) await turn();
      expect(found).to.have.length(1);
      expect(await ctx.redis.pttl(sweeperLeaseKey)).to.be.within(1, intervalMs);
      await intervalIsOver();
      await Promise.all(Array.from({ length: 20 }, () => turn()));
      expect(found).to.have.length(2);
    });

    it('rests for an interval after a turn, and for a shorter time while a full sweep is unfinished', async () => {
      await turn({ soonMs: 1_000, lastLossAt: Date.now() + 60_000 });
      expect(await ctx.redis.pttl(sweeperLeaseKey)).to.be.within(1, 1_000);
      await intervalIsOver();
      await turn({ soonMs: 1_000 });
      expect(await ctx.redis.pttl(sweeperLeaseKey)).to.be.within(1_001, intervalMs);
    });

    it('sweeps everything until 2.5 s after Redis came back, and then no more', async () => {
      let nowMs = Date.now();
      const returnedAt = nowMs + 2_500;
      // Each look at the clock of Redis is 2.5 s after the one before.
      Object.assign(ctx.redis, {
        eval: async () => {
          nowMs += 2_500;
          return [String(Math.floor(nowMs / 1_000)), String((nowMs % 1_000) * 1_000)];
        },
      });
      const sweeper = startSweeper(ctx, { intervalMs: 1 });
      try {
        ctx.redis.emit('ready');
        const sweptAt = async () => Number(await ctx.redis.get(sweptKey));
        await until(async () => (await sweptAt()) >= returnedAt + 2_500);
        const last = await sweptAt();
        await until(async () => nowMs > last + 25_000);
        expect(await sweptAt()).to.equal(last);
      } finally {
        await sweeper.stop();
        Reflect.deleteProperty(ctx.redis, 'eval');
      }
    });

    it('sweeps everything once, however many processes have lost Redis and found it again', async () => {
      await everythingIsSwept();
      await turn();
      const [{ _id }] = (await lateEvents(1)) as [Ride];
      const found = watchFinds();
      const redisReturnedAt = Date.now() + 1;
      const returned = { now: redisReturnedAt, lastLossAt: redisReturnedAt, redisReturnedAt };
      await turn(returned);
      for (let times = 0; times < 20; times++) await turn(returned);
      expect(found).to.deep.equal([_id]);
    });
  });

  describe('costs the same with a backlog and without', () => {
    it('looks at a bounded number of rides, the oldest first, goes on where it ended, and adds nothing', async () => {
      await everythingIsSwept();
      const made = await lateEvents(1_300);
      for (const ride of made) void enqueueNextDelivery(ctx, ride);
      await until(async () => (await ctx.queues.webhooks.getWaitingCount()) === made.length);
      await turn();
      const adds = await addsSoFar();
      await ctx.redis.del(progressKey);
      const found = watchFinds();
      const lengths: number[] = [];
      for (let times = 0; times < 3; times++) {
        await intervalIsOver();
        const before = found.length;
        await turn();
        lengths.push(found.length - before);
      }
      expect(new Set(found).size).to.equal(made.length);
      expect(lengths.slice(0, 2).every((length) => length >= 500 && length < 505)).to.equal(true);
      expect([...new Set(found)]).to.deep.equal(made.map(({ _id }) => _id));
      await intervalIsOver();
      await turn();
      expect(found.at(1_300 + 20)).to.be.oneOf(made.slice(0, 30).map(({ _id }) => _id));
      expect(await addsSoFar()).to.equal(adds);
    });

    it('adds all that is missing in one go, the oldest first', async () => {
      await everythingIsSwept();
      const made = await lateEvents(1_500);
      await turn();
      const { webhooks } = ctx.queues;
      const waiting = await webhooks.getWaiting(0, made.length);
      expect(waiting.map(({ data }) => (data as DeliveryJob).rideId)).to.deep.equal(made.map(({ _id }) => _id));
    });
  });

  describe('goes on', () => {
    it('past a ride that cannot be swept, and counts as a sweep of everything', async () => {
      const broken = await newRide(ctx);
      await rides.updateOne({ _id: broken }, { $set: { timers: null } } as never);
      const stuck = await newRide(ctx);
      await ctx.redis.flushall();
      await ctx.redis.hset(ctx.queues.bidding.toKey(`de:${stuck}_expire`), 'not a', 'job id');
      const whole = await newRide(ctx);
      await ctx.redis.del(ctx.queues.bidding.toKey(`de:${whole}_expire`), ctx.queues.bidding.toKey('delayed'));
      const logged: unknown[] = [];
      const log = { ...ctx.log, warn: (fields: object) => void logged.push(fields), info: () => {} };
      const listening = { ...ctx, log: log as unknown as Context['log'] };
      const times = { now: Date.now(), lastLossAt: 0, redisReturnedAt: 0, intervalMs, soonMs: 1 };
      await takeSweepTurn(listening, { ...times, signal: new AbortController().signal });
      expect(await jobFor(ctx, 'bidding', { rideId: whole, timer: 'expire' })).not.to.equal(undefined);
      expect(await ctx.redis.get(sweptKey)).to.equal(String(times.now));
      expect(JSON.stringify(logged)).to.include(broken).and.to.include(stuck);
    });

    it('with a sweep of everything where it was cut short', async () => {
      const made = await lateEvents(600);
      let finds = 0;
      rides.find = ((...args: Parameters<typeof rides.find>) => {
        finds += 1;
        if (finds === 4) throw new Error('broken');
        return Reflect.apply(find, rides, args);
      }) as typeof rides.find;
      await turn().catch(() => {});
      const added = await ctx.queues.webhooks.getWaitingCount();
      expect(added).to.be.within(250, 500);
      rides.find = find;
      const found = watchFinds();
      await intervalIsOver();
      await turn();
      expect(found.length).to.be.within(made.length - added, made.length - added + 2);
      expect(await ctx.queues.webhooks.getWaitingCount()).to.equal(made.length);
      expect(await ctx.redis.get(sweptKey)).not.to.equal(null);
    });

    it('with a sweep of everything from the front where Redis has lost its data in the meantime', async () => {
      const made = await lateEvents(300);
      await ctx.redis.set(progressKey, JSON.stringify({ deliveries: 'end', everythingSince: Date.now() - 1_000 }));
      const found = watchFinds();
      await turn({ redisReturnedAt: Date.now() - 500 });
      expect(found).to.include.members(made.map(({ _id }) => _id));
    });

    it('past a sweep during which Redis lost its data: that one counts as none', async () => {
      await lateEvents(1);
      rides.find = ((...args: Parameters<typeof rides.find>) => {
        void ctx.redis.flushall();
        return Reflect.apply(find, rides, args);
      }) as typeof rides.find;
      await turn();
      expect(await ctx.redis.get(sweptKey)).to.equal(null);
    });

    it('in another process where the one that swept has ended', async () => {
      const sweeper = startSweeper(ctx, { intervalMs: 1 });
      await until(async () => (await ctx.redis.get(sweptKey)) !== null);
      await sweeper.stop();
      const rideId = await newRide(ctx);
      await (await jobFor(ctx, 'bidding', { rideId, timer: 'expire' }))?.remove();
      await makeDue(rideId, 'expire', secondsAgo(60));
      const other = startSweeper(ctx, { intervalMs: 1 });
      await until(async () => (await jobFor(ctx, 'bidding', { rideId, timer: 'expire' })) !== undefined);
      await other.stop();
    });
  });

  it('stops at once while MongoDB hangs', async () => {
    let asked = () => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    rides.find = (() => ({
      toArray: () => {
        asked();
        return new Promise(() => {});
      },
    })) as unknown as typeof rides.find;
    const sweeper = startSweeper(ctx);
    await isAsked;
    await sweeper.stop();
  });

  it('stops in the midst of a sweep', async () => {
    await lateEvents(2_000);
    const found = watchFinds();
    const watched = rides.find;
    const stopped = new Promise<void>((resolve) => {
      rides.find = ((...args: Parameters<typeof rides.find>) => {
        if (found.length > 0) resolve(sweeper.stop());
        return Reflect.apply(watched, rides, args);
      }) as typeof rides.find;
    });
    const sweeper = startSweeper(ctx);
    await stopped;
    expect(found.length).to.be.below(2_000);
    expect(await ctx.redis.get(sweptKey)).to.equal(null);
  });
});
