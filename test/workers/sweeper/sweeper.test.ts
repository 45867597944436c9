import { Worker } from 'bullmq';
import { expect } from 'chai';
import { newKeyId, newRideId } from '../../../shared/base/ids.ts';
import { mongoNow } from '../../../shared/base/mongo/clock.ts';
import { type PoolName, queuePrefix } from '../../../shared/base/queues.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { timerPool } from '../../../shared/rides/ride-jobs.ts';
import { type AttemptRecord, attempts } from '../../../shared/webhooks/attempts.ts';
import { sweepWithoutRedis } from '../../../workers/periodic/sweeper/mongo-work.ts';
import { sweep } from '../../../workers/periodic/sweeper/sweep.ts';
import { startSweeper } from '../../../workers/periodic/sweeper/sweeper.ts';
import { sweeperLeaseKey, takeSweepTurn } from '../../../workers/periodic/sweeper/turn.ts';
import { claimEvent } from '../../../workers/webhooks/claim-event.ts';
import { claimResend } from '../../../workers/webhooks/claim-resend.ts';
import { markSlow } from '../../../workers/webhooks/slow-lane.ts';
import { attemptRecord } from '../../support/attempts.ts';
import { newKey } from '../../support/deliveries.ts';
import { database } from '../../support/failing-mongo.ts';
import { newRide, rideIn, rideWithEvents } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { jobFor, makeDue, statusesSent, storedRide, type Work } from '../../support/stored-rides.ts';
import { until } from '../../support/until.ts';

describe('the sweeper', () => {
  const ctx = useTestContext();
  // Deletes the rides of other tests, whose due timers would be swept first.
  beforeEach(() => rides.deleteMany({}));

  const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000);
  const lose = async (pool: PoolName, work: Work) => (await jobFor(ctx, pool, work))?.remove();
  const takeATurn = () => {
    const times = { now: Date.now(), lastLossAt: 0, redisReturnedAt: 0, intervalMs: 60_000, soonMs: 60_000 };
    return takeSweepTurn(ctx, { ...times, signal: new AbortController().signal });
  };
  /** Runs one turn of the sweeper, as if its interval had passed. */
  const oneSweep = async () => {
    await ctx.redis.del(sweeperLeaseKey);
    await takeATurn();
  };
  const rideWhoseEventIs = async (seconds: number) => {
    const key = await newKey(ctx);
    const rideId = await rideWithEvents(ctx, key, 2);
    await rides.updateOne({ _id: rideId }, { $set: { unsettledSince: secondsAgo(seconds) } });
    await lose('webhooks', { rideId, seq: 1 });
    return { rideId, keyId: key.keyId };
  };

  describe('after a loss of Redis data', () => {
    it('the sweeper adds the jobs of all timers and of the oldest event of each ride at once, due or not', async () => {
      const waiting = [await newRide(ctx, { mode: 'test' }), await newRide(ctx, { mode: 'live' })];
      const { rideId } = await rideWhoseEventIs(0);
      await ctx.redis.flushall();
      await oneSweep();
      const added: string[] = [];
      for (const { _id, timers } of await Promise.all(waiting.map(storedRide))) {
        for (const { name, dueAt } of timers) {
          const job = await jobFor(ctx, timerPool(name), { rideId: _id, timer: name });
          expect(job?.data).to.deep.equal({ rideId: _id, timer: name });
          const { timestamp = 0 } = job ?? {};
          expect(timestamp + (job?.opts.delay ?? 0)).to.equal(Math.max(timestamp, dueAt.getTime()));
          added.push(name);
        }
      }
      expect(added).to.include.members(['expire', 'offer', 'dispatch']);
      expect((await jobFor(ctx, 'webhooks', { rideId, seq: 1 }))?.data).to.include({ rideId, seq: 1 });
      expect(await jobFor(ctx, 'webhooks', { rideId, seq: 2 })).to.equal(undefined);
    });

    it('a full sweep adds an active job again, because its worker may never have received it', async () => {
      const { rideId } = await rideWhoseEventIs(0);
      const timed = await newRide(ctx, { mode: 'test' });
      await makeDue(timed, 'offer');
      await sweep(ctx, { everything: true });
      const loseReplies = async (pool: PoolName) => {
        const worker = new Worker(pool, null, { connection: ctx.redis, prefix: queuePrefix(pool), autorun: false });
        while (await worker.getNextJob('a worker that dies', { block: false }));
        await worker.close();
      };
      await loseReplies('webhooks');
      await loseReplies('simulator');
      const stateOf = async (pool: PoolName, work: Work) => (await jobFor(ctx, pool, work))?.getState();
      expect(await stateOf('webhooks', { rideId, seq: 1 })).to.equal('active');
      expect(await stateOf('simulator', { rideId: timed, timer: 'offer' })).to.equal('active');
      await sweep(ctx, { everything: true });
      expect(await stateOf('webhooks', { rideId, seq: 1 })).to.equal('waiting');
      expect(await stateOf('simulator', { rideId: timed, timer: 'offer' })).to.equal('waiting');
    });
  });

  describe('while Redis has its data', () => {
    before(() => oneSweep());

    it('an ordinary sweep adds jobs that are late by over 10 s, and no others', async () => {
      const [late, justDue] = [await newRide(ctx), await newRide(ctx)];
      for (const rideId of [late, justDue]) await lose('bidding', { rideId, timer: 'expire' });
      const [old, recent] = [await rideWhoseEventIs(0), await rideWhoseEventIs(0)];
      const now = await mongoNow();
      const ago = (ms: number) => new Date(now.getTime() - ms);
      await makeDue(late, 'expire', ago(10_001));
      await makeDue(justDue, 'expire', ago(9_999));
      await rides.updateOne({ _id: old.rideId }, { $set: { unsettledSince: ago(10_001) } });
      await rides.updateOne({ _id: recent.rideId }, { $set: { unsettledSince: ago(9_999) } });
      Object.assign(database(), { aggregate: () => ({ toArray: async () => [{ now }] }) });
      try {
        await oneSweep();
      } finally {
        Reflect.deleteProperty(database(), 'aggregate');
      }
      expect((await jobFor(ctx, 'bidding', { rideId: late, timer: 'expire' }))?.opts.delay).to.equal(0);
      expect(await jobFor(ctx, 'bidding', { rideId: justDue, timer: 'expire' })).to.equal(undefined);
      expect((await jobFor(ctx, 'webhooks', { rideId: old.rideId, seq: 1 }))?.data).to.deep.equal({ ...old, seq: 1 });
      expect(await jobFor(ctx, 'webhooks', { rideId: recent.rideId, seq: 1 })).to.equal(undefined);
    });

    it('a full sweep follows a Redis reconnect, even if another process held the lease at that moment', async () => {
      const { rideId } = await rideWhoseEventIs(0);
      await ctx.redis.set(sweeperLeaseKey, 'a process that was killed', 'PX', 60_000);
      const sweeper = startSweeper(ctx);
      ctx.redis.emit('ready');
      await ctx.redis.ping();
      await ctx.redis.del(sweeperLeaseKey);
      await until(async () => (await jobFor(ctx, 'webhooks', { rideId, seq: 1 })) !== undefined);
      await sweeper.stop();
    });

    it('a full sweep follows a Redis reconnect, even if its first try fails', async () => {
      const { rideId } = await rideWhoseEventIs(0);
      const { find } = rides;
      rides.find = (() => {
        rides.find = find;
        throw new Error('broken');
      }) as typeof find;
      const sweeper = startSweeper(ctx);
      ctx.redis.emit('ready');
      await until(async () => (await jobFor(ctx, 'webhooks', { rideId, seq: 1 })) !== undefined);
      await sweeper.stop();
    });
  });

  describe('work in progress', () => {
    it('the sweeper adds no job for a claimed event until its claim has expired', async () => {
      const { rideId } = await rideWhoseEventIs(60);
      await claimEvent(rideId, 1, 'a run');
      await sweep(ctx, { everything: true });
      expect(await jobFor(ctx, 'webhooks', { rideId, seq: 1 })).to.equal(undefined);
      await rides.updateOne({ _id: rideId }, { $set: { 'claim.until': secondsAgo(1) } });
      await sweep(ctx, { everything: false });
      expect(await jobFor(ctx, 'webhooks', { rideId, seq: 1 })).not.to.equal(undefined);
    });

    it('the sweeper leaves existing jobs in place, with their due times and without duplicates', async () => {
      const rideId = await rideWithEvents(ctx, await newKey(ctx), 1);
      const delivery = await jobFor(ctx, 'webhooks', { rideId, seq: 1 });
      const round = await jobFor(ctx, 'dispatch', { rideId, timer: 'dispatch' });
      for (let times = 0; times < 3; times++) await sweep(ctx, { everything: true });
      expect((await jobFor(ctx, 'webhooks', { rideId, seq: 1 }))?.id).to.equal(delivery?.id);
      const dueAt = (job: typeof round) => (job?.timestamp ?? 0) + (job?.opts.delay ?? 0);
      expect(dueAt(await jobFor(ctx, 'dispatch', { rideId, timer: 'dispatch' }))).to.equal(dueAt(round));
      for (const pool of ['dispatch', 'webhooks'] as const) {
        const jobs = await ctx.queues[pool].getJobs(['waiting', 'delayed', 'active']);
        expect(jobs.filter(({ data }) => 'rideId' in data && data.rideId === rideId)).to.have.length(1);
      }
    });

    it('the sweeper ignores ended rides with settled events', async () => {
      const { rideId } = await rideIn(ctx, 'cancelled');
      await rides.updateOne({ _id: rideId }, [{ $set: { settledSeq: '$seq', unsettled: 0 } }]);
      const before = await storedRide(rideId);
      await lose('webhooks', { rideId, seq: 1 });
      await sweep(ctx, { everything: true });
      expect(await storedRide(rideId)).to.deep.equal(before);
      expect(await jobFor(ctx, 'webhooks', { rideId, seq: before.seq })).to.equal(undefined);
    });
  });

  it('the sweeper adds the events of a slow key to the slow lane', async () => {
    const { rideId, keyId } = await rideWhoseEventIs(60);
    await markSlow(ctx, keyId);
    await sweep(ctx, { everything: false });
    expect(await jobFor(ctx, 'webhooks', { rideId, seq: 1 })).to.equal(undefined);
    expect((await jobFor(ctx, 'webhooks-slow', { rideId, seq: 1 }))?.data).to.deep.equal({ rideId, keyId, seq: 1 });
  });

  for (const status of ['driver_arriving', 'in_progress'] as const) {
    it(`the sweeper cancels a trip that stalls in ${status} once, with one event`, async () => {
      const { rideId } = await rideIn(ctx, status);
      const moving = await rideIn(ctx, status);
      await makeDue(rideId, 'stall', secondsAgo(1));
      await Promise.all([sweep(ctx, { everything: false }), sweep(ctx, { everything: false })]);
      const ride = await storedRide(rideId);
      expect(ride).to.include({ status: 'cancelled', cancelledBy: 'timeout' });
      expect(statusesSent(ride).filter((sent) => sent === 'cancelled')).to.have.length(1);
      expect((await storedRide(moving.rideId)).status).to.equal(status);
    });
  }

  it('a sweep without Redis ends stalled trips, also a trip that stalls after an earlier sweep', async () => {
    const mayContinue = async () => true;
    const cursor = await sweepWithoutRedis(ctx, 'front', mayContinue);
    const { rideId } = await rideIn(ctx, 'arrived');
    await makeDue(rideId, 'stall', secondsAgo(1));
    await sweepWithoutRedis(ctx, cursor, mayContinue);
    expect(await storedRide(rideId)).to.include({ status: 'cancelled', cancelledBy: 'timeout' });
  });
});

describe('sweeper: test events and redeliveries', () => {
  const ctx = useTestContext();
  beforeEach(async () => {
    await ctx.redis.flushall();
    await attempts.deleteMany({});
  });

  const secondsFromNow = (seconds: number) => new Date(Date.now() + seconds * 1_000);
  /** A waiting attempt without a job. */
  const waiting = async (seconds: number, changes: Partial<AttemptRecord> = {}): Promise<AttemptRecord> => {
    const at = secondsFromNow(seconds);
    const record = attemptRecord({
      at,
      dueAt: at,
      outcome: 'waiting',
      state: 'waiting',
      tries: 0,
      kind: 'test',
      ...changes,
    });
    if (record.kind === 'test') delete record.rideId;
    await attempts.insertOne(record);
    return record;
  };
  const redelivery = (seconds: number, rideId: string, keyId?: string) =>
    waiting(seconds, { kind: 'redelivery', rideId, ...(keyId && { keyId }) });
  const job = ({ _id }: AttemptRecord) => jobFor(ctx, 'webhooks', { attemptId: _id });

  it('the sweeper adds jobs of resends that are late by over 10 s, and no others', async () => {
    const [late, recent] = [await waiting(-60), await waiting(-1)];
    expect(await sweep(ctx, { everything: false })).to.include({ attempts: 1, failed: 0 });
    expect((await job(late))?.data).to.deep.equal({ attemptId: late._id, keyId: late.keyId });
    expect(await job(recent)).to.equal(undefined);
  });

  it('a full sweep adds the missing jobs of all resends, each for its due time', async () => {
    const [now, planned] = [await waiting(0), await waiting(40)];
    await sweep(ctx, { everything: true });
    expect(await job(now)).not.to.equal(undefined);
    const delayed = await job(planned);
    expect((delayed?.timestamp ?? 0) + (delayed?.opts.delay ?? 0)).to.equal(planned.dueAt?.getTime());
  });

  it('the sweeper leaves a claimed resend alone until its claim has expired', async () => {
    const late = await waiting(-60);
    await claimResend(late._id, 'a run that was killed');
    await sweep(ctx, { everything: true });
    expect(await job(late)).to.equal(undefined);
    await attempts.updateOne({ _id: late._id }, { $set: { 'claim.until': new Date(0) } });
    await sweep(ctx, { everything: false });
    expect(await job(late)).not.to.equal(undefined);
  });

  it('the sweeper adds only the job of the first redelivery of each ride, and only once', async () => {
    const [rideA, rideB] = [newRideId(0), newRideId(0)];
    const [first, second, other] = [
      await redelivery(-60, rideA),
      await redelivery(-50, rideA),
      await redelivery(-40, rideB),
    ];
    await sweep(ctx, { everything: true });
    const added = await job(first);
    expect(added).not.to.equal(undefined);
    for (let times = 0; times < 3; times++) await sweep(ctx, { everything: true });
    expect((await job(first))?.id).to.equal(added?.id);
    expect(await job(other)).not.to.equal(undefined);
    expect(await job(second)).to.equal(undefined);
  });

  it('the sweeper adds the next redelivery if a worker crashed after it recorded the first one', async () => {
    const rideId = newRideId(0);
    const [first, second] = [await redelivery(-60, rideId), await redelivery(-50, rideId)];
    await attempts.updateOne(
      { _id: first._id },
      { $set: { state: 'done', outcome: 'delivered' }, $unset: { dueAt: '' } },
    );
    await sweep(ctx, { everything: false });
    expect(await job(second)).not.to.equal(undefined);
  });

  it('the sweeper adds the resends of a slow key to the slow lane', async () => {
    const keyId = newKeyId();
    await markSlow(ctx, keyId);
    const late = await waiting(-60, { keyId });
    await sweep(ctx, { everything: false });
    expect(await job(late)).to.equal(undefined);
    expect(await jobFor(ctx, 'webhooks-slow', { attemptId: late._id })).not.to.equal(undefined);
  });

  it('the sweeper ignores the attempts of events and resends that are done', async () => {
    await attempts.insertMany(Array.from({ length: 20 }, () => attemptRecord({ at: secondsFromNow(-60) })));
    expect(await sweep(ctx, { everything: false })).to.include({ attempts: 0 });
  });
});
