import { expect } from 'chai';
import type { Context } from '../../../shared/base/context.ts';
import { newRideId } from '../../../shared/base/ids.ts';
import { type DeliveryJob, poolNames } from '../../../shared/base/queues.ts';
import { mails } from '../../../shared/mail/mail-row.ts';
import { sweptAtKey } from '../../../shared/process/ops/full-sweep.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { enqueueNextDelivery } from '../../../shared/rides/ride-jobs.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { attempts } from '../../../shared/webhooks/attempts.ts';
import { acquireLease } from '../../../workers/periodic/lease.ts';
import { startSweeper } from '../../../workers/periodic/sweeper/sweeper.ts';
import { progressKey } from '../../../workers/periodic/sweeper/sweeper-progress.ts';
import { sweeperLeaseKey, takeSweepTurn } from '../../../workers/periodic/sweeper/turn.ts';
import { newRide } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { jobFor, makeDue } from '../../support/stored-rides.ts';
import { until } from '../../support/until.ts';

const intervalMs = 60_000;

/** Every stored ride has its two places: a start of the service on the same database reads them. */
const places = { pickup: { lat: 40.758, lng: -73.9855 }, destination: { lat: 40.7128, lng: -74.006 } };

describe('the sweeper', () => {
  const ctx = useTestContext();
  const { find } = rides;
  beforeEach(async () => {
    await ctx.redis.flushall();
    // Deletes leftovers of other tests, which would be swept too.
    await Promise.all([rides.deleteMany({}), attempts.deleteMany({}), mails.deleteMany({})]);
  });
  afterEach(() => {
    rides.find = find;
  });

  const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000);
  const turn = (changes: { lastLossAt?: number; redisReturnedAt?: number; soonMs?: number } = {}) => {
    const times = { now: Date.now(), lastLossAt: 0, redisReturnedAt: 0, intervalMs, soonMs: intervalMs, ...changes };
    return takeSweepTurn(ctx, { ...times, signal: new AbortController().signal });
  };
  const intervalIsOver = () => ctx.redis.del(sweeperLeaseKey);
  /** Records a full sweep, so that no other one is due. */
  const noteFullSweep = () => ctx.redis.set(sweptAtKey, Date.now());

  /** Creates rides with a waiting event, one second apart. Resolves with them, the oldest first. */
  async function lateEvents(count: number): Promise<Ride[]> {
    const made = Array.from({ length: count }, (_, index) => ({
      ...{ _id: newRideId(Date.now()), keyId: 'key_of_tests', trackToken: newRideId(Date.now()), ...places },
      ...{ seq: 1, settledSeq: 0, unsettled: 1, unsettledSince: secondsAgo(60 + count - index), timers: [] },
    })) as unknown as Ride[];
    // The rides are not inserted in the order of their age.
    await rides.insertMany([...made].sort((a, b) => (a._id < b._id ? 1 : -1)));
    return made;
  }

  /** Records the ids of the rides that the sweeper reads. */
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

  /** Counts all adds, even those that BullMQ ignores, because each one uses up a job id. */
  const addsSoFar = async () => {
    const counts = await Promise.all(poolNames.map((pool) => ctx.redis.get(ctx.queues[pool].toKey('id'))));
    return counts.reduce((sum, count) => sum + Number(count) - 1, 0);
  };

  describe('lease', () => {
    it('a process that has lost the lease neither renews nor ends it', async () => {
      const lost = await acquireLease(ctx.redis, { key: sweeperLeaseKey });
      await ctx.redis.set(sweeperLeaseKey, 'another process', 'PX', 60_000);
      expect(await lost?.keep()).to.equal(false);
      await lost?.rest(1);
      expect(await ctx.redis.get(sweeperLeaseKey)).to.equal('another process');
      expect(await ctx.redis.pttl(sweeperLeaseKey)).to.be.above(50_000);
    });

    it('a process keeps the lease as long as it renews it', async () => {
      const lease = await acquireLease(ctx.redis, { key: sweeperLeaseKey });
      await ctx.redis.pexpire(sweeperLeaseKey, 2_000);
      expect(await lease?.keep()).to.equal(true);
      expect(await ctx.redis.pttl(sweeperLeaseKey)).to.be.above(2_000);
      await ctx.redis.del(sweeperLeaseKey);
      expect(await lease?.keep()).to.equal(false);
    });
  });

  describe('cost with many processes', () => {
    it('one sweep runs per interval, even if many processes take their turns', async () => {
      await noteFullSweep();
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

    it('the lease stays taken for an interval after a turn, or for less while a full sweep is unfinished', async () => {
      await turn({ soonMs: 1_000, lastLossAt: Date.now() + 60_000 });
      expect(await ctx.redis.pttl(sweeperLeaseKey)).to.be.within(1, 1_000);
      await intervalIsOver();
      await turn({ soonMs: 1_000 });
      expect(await ctx.redis.pttl(sweeperLeaseKey)).to.be.within(1_001, intervalMs);
    });

    it('full sweeps run until one has started 2.5 s after Redis became available again', async () => {
      let nowMs = Date.now();
      const returnedAt = nowMs + 2_500;
      // Each read of Redis's clock returns a time 2.5 s after the previous one.
      Object.assign(ctx.redis, {
        eval: async () => {
          nowMs += 2_500;
          return [String(Math.floor(nowMs / 1_000)), String((nowMs % 1_000) * 1_000)];
        },
      });
      const sweeper = startSweeper(ctx, { intervalMs: 1 });
      try {
        ctx.redis.emit('ready');
        const sweptAt = async () => Number(await ctx.redis.get(sweptAtKey));
        await until(async () => (await sweptAt()) >= returnedAt + 2_500);
        const last = await sweptAt();
        await until(async () => nowMs > last + 25_000);
        expect(await sweptAt()).to.equal(last);
      } finally {
        await sweeper.stop();
        Reflect.deleteProperty(ctx.redis, 'eval');
      }
    });

    it('one full sweep runs after an outage of Redis, even if many processes were affected', async () => {
      await noteFullSweep();
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

  describe('cost with a backlog', () => {
    it('a sweep reads a limited number of rides with jobs, oldest first; the next sweep continues there', async () => {
      await noteFullSweep();
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

    it('one sweep adds all missing jobs, the oldest first', async () => {
      await noteFullSweep();
      const made = await lateEvents(1_500);
      await turn();
      const { webhooks } = ctx.queues;
      const waiting = await webhooks.getWaiting(0, made.length);
      expect(waiting.map(({ data }) => (data as DeliveryJob).rideId)).to.deep.equal(made.map(({ _id }) => _id));
    });
  });

  describe('failures', () => {
    it('a ride that cannot be swept does not block the others, and the full sweep counts as complete', async () => {
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
      expect(await ctx.redis.get(sweptAtKey)).to.equal(String(times.now));
      expect(JSON.stringify(logged)).to.include(broken).and.to.include(stuck);
    });

    it('an interrupted full sweep continues at its cursor', async () => {
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
      expect(await ctx.redis.get(sweptAtKey)).not.to.equal(null);
    });

    it('a full sweep starts again from the front if Redis lost its data in the meantime', async () => {
      const made = await lateEvents(300);
      await ctx.redis.set(progressKey, JSON.stringify({ deliveries: 'end', everythingSince: Date.now() - 1_000 }));
      const found = watchFinds();
      await turn({ redisReturnedAt: Date.now() - 500 });
      expect(found).to.include.members(made.map(({ _id }) => _id));
    });

    it('a full sweep during which Redis lost its data does not count', async () => {
      await lateEvents(1);
      rides.find = ((...args: Parameters<typeof rides.find>) => {
        void ctx.redis.flushall();
        return Reflect.apply(find, rides, args);
      }) as typeof rides.find;
      await turn();
      expect(await ctx.redis.get(sweptAtKey)).to.equal(null);
    });

    it('another process continues to sweep after the sweeping process has ended', async () => {
      const sweeper = startSweeper(ctx, { intervalMs: 1 });
      await until(async () => (await ctx.redis.get(sweptAtKey)) !== null);
      await sweeper.stop();
      const rideId = await newRide(ctx);
      await (await jobFor(ctx, 'bidding', { rideId, timer: 'expire' }))?.remove();
      await makeDue(rideId, 'expire', secondsAgo(60));
      const other = startSweeper(ctx, { intervalMs: 1 });
      await until(async () => (await jobFor(ctx, 'bidding', { rideId, timer: 'expire' })) !== undefined);
      await other.stop();
    });
  });

  it('the sweeper stops at once, even while MongoDB hangs', async () => {
    let onQuery = () => {};
    const queried = new Promise<void>((resolve) => {
      onQuery = resolve;
    });
    rides.find = (() => ({
      toArray: () => {
        onQuery();
        return new Promise(() => {});
      },
    })) as unknown as typeof rides.find;
    const sweeper = startSweeper(ctx);
    await queried;
    await sweeper.stop();
  });

  it('the sweeper can stop during a sweep', async () => {
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
    expect(await ctx.redis.get(sweptAtKey)).to.equal(null);
  });
});
