import { expect } from 'chai';
import mongoose from 'mongoose';
import nock from 'nock';
import type { PoolName } from '../../../shared/base/queues.ts';
import type { RedisClient } from '../../../shared/base/redis/redis-nodes.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { enqueueNextDelivery } from '../../../shared/rides/ride-jobs.ts';
import { attempts } from '../../../shared/webhooks/attempts.ts';
import { redeliverFailed } from '../../../shared/webhooks/redeliver.ts';
import { throwIfNotDelivered } from '../../../workers/run-job.ts';
import { enterLane, isSlow, markSlow } from '../../../workers/webhooks/slow-lane.ts';
import { deliver, insteadOf, newKey, useDeliveries, withShortDeadline, withTargets } from '../../support/deliveries.ts';
import { startReceiver, useReceiver } from '../../support/receiver.ts';
import { rideWithEvents } from '../../support/rides.ts';
import { type TestApi, useTestContext } from '../../support/service.ts';
import { jobFor, statusesSent, storedRide } from '../../support/stored-rides.ts';
import { until } from '../../support/until.ts';
import { startTestService, useTestService } from '../../support/workers.ts';

// The import activates nock for the whole process.
nock.restore();

const finishedRuns = async (service: TestApi, pool: PoolName, rideId: string) =>
  (await service.ctx.queues[pool].getCompleted())
    .filter(({ data }) => 'rideId' in data && data.rideId === rideId)
    .map(({ data, returnvalue }) => ({ seq: 'seq' in data ? data.seq : null, result: returnvalue.result }));

describe('delivery pools', () => {
  const inFlight = new Set<string>();
  const overlaps: string[] = [];
  const receiver = useReceiver({
    answer: (response, { body: { rideId } }) => {
      if (inFlight.has(rideId)) overlaps.push(rideId);
      inFlight.add(rideId);
      setTimeout(() => {
        inFlight.delete(rideId);
        response.end();
      }, Math.random() * 30);
    },
  });
  const service = useTestService(() => ({ WEBHOOK_LOCAL_TARGETS: receiver.origin }), ['webhooks', 'webhooks-slow']);

  const received = (rideId: string) => receiver.receipts.filter(({ body }) => body.rideId === rideId);
  const settled = (rideId: string) => until(async () => (await storedRide(rideId)).unsettled === 0);

  it("a ride's events are sent in order, one at a time, to a receiver with random delays", async () => {
    const rideId = await rideWithEvents(service.ctx, await service.key('live', receiver.url), 5);
    await settled(rideId);
    expect(overlaps).not.to.include(rideId);
    expect(received(rideId).map(({ headers }) => headers['x-service-sequence'])).to.deep.equal([
      '1',
      '2',
      '3',
      '4',
      '5',
    ]);
    const ride = await storedRide(rideId);
    expect(received(rideId).map(({ raw }) => raw)).to.deep.equal(ride.events.map(({ body }) => body));
    expect(ride.events.map(({ delivery }) => delivery?.outcome)).to.deep.equal(Array(5).fill('delivered'));
    expect(statusesSent(ride).at(-1)).to.equal('completed');
  });

  it('each event is sent once, even if its job is added again repeatedly while it runs', async () => {
    const key = await service.key('live', receiver.url);
    const rideIds = await Promise.all([1, 2, 3, 4].map(() => rideWithEvents(service.ctx, key, 4)));
    await until(async () => {
      for (const rideId of rideIds) await enqueueNextDelivery(service.ctx, await storedRide(rideId));
      return (await rides.countDocuments({ _id: { $in: rideIds }, unsettled: { $gt: 0 } })) === 0;
    });
    for (const rideId of rideIds) {
      expect(received(rideId).map(({ headers }) => headers['x-service-sequence'])).to.deep.equal(['1', '2', '3', '4']);
    }
  });

  it('the events of a slow key are moved to the slow lane and delivered there in order', async () => {
    const key = await service.key('live', receiver.url);
    await markSlow(service.ctx, key.keyId);
    const rideId = await rideWithEvents(service.ctx, key, 2);
    await settled(rideId);
    await until(async () => (await finishedRuns(service, 'webhooks-slow', rideId)).length === 2);
    expect(await finishedRuns(service, 'webhooks', rideId)).to.have.deep.members([
      { seq: 1, result: 'handed to webhooks-slow' },
      { seq: 2, result: 'handed to webhooks-slow' },
    ]);
    expect(await finishedRuns(service, 'webhooks-slow', rideId)).to.have.deep.members([
      { seq: 1, result: 'delivered' },
      { seq: 2, result: 'delivered' },
    ]);
    expect(received(rideId).map(({ headers }) => headers['x-service-sequence'])).to.deep.equal(['1', '2']);
  });
});

describe('stop of a delivery pool', () => {
  let restoreWrites = () => {};
  afterEach(() => {
    restoreWrites();
  });

  it('a pool stops at once while MongoDB accepts no outcome', async () => {
    const receiver = await startReceiver();
    const service = await startTestService({ WEBHOOK_LOCAL_TARGETS: receiver.origin }, ['webhooks']);
    const settling = new Promise<void>((reached) => {
      restoreWrites = insteadOf('settling', () => {
        reached();
        return Promise.reject(new mongoose.mongo.MongoNetworkError('connection lost'));
      });
    });
    await rideWithEvents(service.ctx, await service.key('live', receiver.url), 1);
    await settling;
    await service.close();
    await receiver.close();
  });
});

describe('slow lane', () => {
  const { receiver, ctx } = useDeliveries();

  it('a job is moved to the slow lane before its event is claimed', async () => {
    const key = await newKey(ctx);
    await markSlow(ctx, key.keyId);
    const rideId = await rideWithEvents(ctx, key, 1);
    expect(await deliver(ctx, rideId, 1)).to.deep.equal({ result: 'handed to webhooks-slow' });
    expect(await storedRide(rideId))
      .to.include({ settledSeq: 0 })
      .and.not.to.have.property('claim');
    expect((await jobFor(ctx, 'webhooks-slow', { rideId, seq: 1 }))?.data).to.include({ rideId, seq: 1 });
    expect(await deliver(ctx, rideId, 1, { pool: 'webhooks-slow' })).to.include({ result: 'no_url' });
  });

  it('a key with eight attempts in flight in the fast lane uses the slow lane for further jobs', async () => {
    const waiting: (() => void)[] = [];
    receiver.answerWith((response) => waiting.push(() => response.end()));
    const key = await newKey(ctx, receiver.url);
    const rideIds = await Promise.all(Array.from({ length: 9 }, () => rideWithEvents(ctx, key, 1)));
    const eight = rideIds.slice(0, 8).map((rideId) => deliver(ctx, rideId, 1));
    await receiver.received(8);
    const ninth = rideIds[8] as string;
    expect(await deliver(ctx, ninth, 1)).to.deep.equal({ result: 'handed to webhooks-slow' });
    for (const answer of waiting) answer();
    for (const outcome of await Promise.all(eight)) expect(outcome).to.include({ result: 'delivered' });
    const late = deliver(ctx, ninth, 1);
    await receiver.received(9);
    for (const answer of waiting) answer();
    expect(await late).to.include({ result: 'delivered' });
  });

  it('while Redis is unavailable, each key still has at most eight attempts in the fast lane', async () => {
    const redis = { zmscore: () => Promise.reject(new Error('away')) } as unknown as RedisClient;
    const enter = () => enterLane({ redis, now: ctx.now }, 'key_without_redis', 'webhooks');
    const entered = await Promise.all(Array.from({ length: 20 }, enter));
    expect(entered.filter((leave) => leave !== null)).to.have.length(8);
    for (const leave of entered) leave?.();
    const leave = await enter();
    expect(leave).not.to.equal(null);
    leave?.();
  });

  it('a key counts as slow for a minute after a timeout, but not after other failures', async () => {
    receiver.answerWith((response, { body }) => body.event === 'offer.received' && response.writeHead(500).end());
    const key = await newKey(ctx, receiver.url);
    const rideId = await rideWithEvents(ctx, key, 2);
    await deliver(ctx, rideId, 1);
    expect(await isSlow(ctx, key.keyId)).to.equal(false);
    await withShortDeadline(() => deliver(ctx, rideId, 2));
    expect(await isSlow(ctx, key.keyId)).to.equal(true);
    const inAMinute = { ...ctx, now: () => ctx.now() + 60_000 };
    expect(await isSlow(inAMinute, key.keyId)).to.equal(false);
    // markSlow also removes the keys that are no longer slow, so that the set does not grow forever.
    await markSlow(inAMinute, 'key_of_another');
    expect(await ctx.redis.zscore('rides:slow', key.keyId)).to.equal(null);
  });
});

describe('event delivery with nock as the receiver', () => {
  const base = useTestContext();
  before(() => nock.activate());
  after(() => nock.restore());

  it("a delivery posts the signed event and records the receiver's status", async () => {
    const mute = await startReceiver({ raw: true });
    const ctx = withTargets(base, mute.origin);
    const rideId = await rideWithEvents(ctx, await newKey(ctx, `${mute.origin}/hook`), 1);
    const reqheaders = { 'X-Service-Event': 'offer.received', 'X-Service-Signature': /^t=\d+,v1=[0-9a-f]{64}$/ };
    const partner = nock(mute.origin, { reqheaders })
      .post('/hook', (body) => body.rideId === rideId)
      .reply(204);
    expect(await deliver(ctx, rideId, 1)).to.include({ result: 'delivered', httpStatus: 204 });
    expect(partner.isDone()).to.equal(true);
    nock.cleanAll();
    await mute.close();
  });
});

describe('resends in the delivery pools', () => {
  const receiver = useReceiver();
  const service = useTestService(() => ({ WEBHOOK_LOCAL_TARGETS: receiver.origin }), ['webhooks', 'webhooks-slow']);

  it("redeliverFailed resends each failed event once, each ride's events in order", async () => {
    const { keyId, owner } = await newKey(service.ctx, receiver.url);
    receiver.answerWith((response) => response.writeHead(500).end());
    const rideIds: string[] = [];
    for (let made = 0; made < 3; made++) rideIds.push(await rideWithEvents(service.ctx, { keyId }, 4, owner));
    await until(async () => (await rides.countDocuments({ _id: { $in: rideIds }, unsettled: 0 })) === 3);
    const [first] = receiver.receipts.splice(0);
    receiver.answerWith();
    expect(await redeliverFailed(service.ctx, keyId, { since: new Date(0) }, owner)).to.equal(12);
    await until(async () => (await attempts.countDocuments({ keyId, outcome: 'waiting' })) === 0);
    const again = receiver.receipts;
    expect(again).to.have.length(12);
    for (const rideId of rideIds) {
      const ofRide = again.filter(({ body }) => body.rideId === rideId);
      expect(ofRide.map(({ headers }) => headers['x-service-sequence'])).to.deep.equal(['1', '2', '3', '4']);
    }
    expect(again.map(({ headers }) => headers['x-service-redelivery'])).to.deep.equal(Array(12).fill('true'));
    expect(again.map(({ raw }) => raw)).to.include(first?.raw);
    expect(await redeliverFailed(service.ctx, keyId, { since: new Date(0) }, owner)).to.equal(0);
  });
});

describe('failed delivery jobs', () => {
  it("an undelivered event's job fails without the receiver's text, and the next event is sent", async () => {
    const receiver = await startReceiver({
      answer: (response, { headers }) => {
        response.writeHead(headers['x-service-sequence'] === '1' ? 500 : 204, 'a text of the receiver').end();
      },
    });
    const service = await startTestService({ WEBHOOK_LOCAL_TARGETS: receiver.origin }, ['webhooks']);
    const { webhooks } = service.ctx.queues;
    const rideId = await rideWithEvents(service.ctx, await service.key('live', receiver.url), 2);
    await until(async () => (await webhooks.getCompletedCount()) === 1);

    const [failed, ...others] = await webhooks.getFailed();
    expect(others).to.deep.equal([]);
    expect(failed?.data).to.include({ rideId, seq: 1 });
    expect(failed).to.include({ failedReason: 'failed: 500 status', attemptsMade: 1 });
    expect(failed?.stacktrace).to.deep.equal(['failed: 500 status']);
    expect(receiver.receipts.map(({ headers }) => headers['x-service-sequence'])).to.deep.equal(['1', '2']);
    await service.close();
    await receiver.close();
  });

  it('a delivery job also fails for a timeout or a blocked target, but not for other results', () => {
    expect(() => throwIfNotDelivered({ result: 'timeout', durationMs: 8_001 })).to.throw(/^timeout$/);
    expect(() => throwIfNotDelivered({ result: 'blocked', reason: 'target_url' })).to.throw(/^blocked: target_url$/);
    for (const result of ['delivered', 'no_url', 'done', 'handed to webhooks-slow']) {
      expect(() => throwIfNotDelivered({ result })).not.to.throw();
    }
  });
});
