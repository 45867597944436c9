import { expect } from 'chai';
import { eventId } from '../../../shared/base/ids.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import { deliverySettings } from '../../../shared/keys/delivery-settings.ts';
import { eraseRides } from '../../../shared/retention/erase-rides.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { resendIntervalMs } from '../../../shared/webhooks/attempt-jobs.ts';
import { attemptOf, attempts } from '../../../shared/webhooks/attempts.ts';
import { redeliver } from '../../../shared/webhooks/redeliver.ts';
import { sendTestEvent } from '../../../shared/webhooks/test-event.ts';
import { claimResend, mayRedeliver } from '../../../workers/webhooks/claim-resend.ts';
import { isSlow, markSlow } from '../../../workers/webhooks/slow-lane.ts';
import {
  deliver,
  deliverResend,
  isSignedWith,
  newKey,
  useDeliveries,
  withShortDeadline,
} from '../../support/deliveries.ts';
import { failOnce } from '../../support/failing-mongo.ts';
import { rideWithEvents } from '../../support/rides.ts';
import { jobFor, storedRide } from '../../support/stored-rides.ts';

describe('resends', () => {
  const { receiver, ctx } = useDeliveries();

  /** Requests a test event. No worker sends it yet. */
  const testEvent = async () => {
    const key = await newKey(ctx, receiver.url);
    return { ...key, attemptId: await sendTestEvent(ctx, key.keyId, key.owner) };
  };
  /** Creates a ride for an account's key and delivers all its events. */
  const deliveredRide = async (events: number) => {
    const key = await newKey(ctx, receiver.url);
    const rideId = await rideWithEvents(ctx, key, events, key.owner);
    for (let seq = 1; seq <= events; seq++) await deliver(ctx, rideId, seq);
    return { ...key, rideId };
  };
  const stored = async (attemptId: string) => {
    const record = await attempts.findOne({ _id: attemptId });
    if (!record) throw new Error('attempt not found');
    return record;
  };
  const expireClaim = (attemptId: string) =>
    attempts.updateOne({ _id: attemptId }, { $set: { 'claim.until': new Date(0) } });

  describe('test events', () => {
    it('a test event is sent like an event, signed, marked as a test and with its own body', async () => {
      const { attemptId, signingSecret } = await testEvent();
      expect(await deliverResend(ctx, attemptId)).to.include({ result: 'delivered', httpStatus: 200 });
      const [receipt] = receiver.receipts;
      expect(isSignedWith(signingSecret, receipt)).to.equal(true);
      expect(receipt?.headers).to.include({
        'x-service-event': 'ride.status',
        'x-service-test': 'true',
        'x-service-sequence': '1',
        'x-service-event-id': eventId(attemptId, 1),
      });
      expect(receipt?.headers).not.to.have.property('x-service-redelivery');
      expect(receipt?.body).to.include({ event: 'ride.status', status: 'driver_arriving', testMode: true });
      expect(receipt?.body).to.include({ eventId: eventId(attemptId, 1), sequence: 1 });
    });

    it('a test event is recorded with its answer, without claim and due time', async () => {
      receiver.answerWith((response) => response.end('fine'));
      const { attemptId, owner } = await testEvent();
      await deliverResend(ctx, attemptId);
      const record = await stored(attemptId);
      expect(record).to.include({
        kind: 'test',
        state: 'done',
        outcome: 'delivered',
        answer: 'fine',
        url: receiver.url,
      });
      expect(record).to.not.have.any.keys('claim', 'dueAt', 'rideId', 'seq');
      expect(record.headers).to.include({ 'X-Service-Test': 'true' });
      expect(record.body).to.equal(receiver.receipts[0]?.raw);
      expect(await attemptOf(attemptId, owner)).to.deep.equal(record);
    });

    it('a test event without a URL is recorded as `no_url`', async () => {
      const { keyId, owner } = await newKey(ctx);
      const attemptId = await sendTestEvent(ctx, keyId, owner);
      await deliverResend(ctx, attemptId);
      expect(await stored(attemptId)).to.include({ state: 'done', outcome: 'no_url' });
    });
  });

  describe('redeliveries', () => {
    it('a redelivery changes no field of the ride, successful or not', async () => {
      const { rideId, owner } = await deliveredRide(2);
      const before = await storedRide(rideId);
      for (const status of [200, 500]) {
        receiver.answerWith((response) => response.writeHead(status).end());
        await deliverResend(ctx, await redeliver(ctx, { rideId, seq: 1 }, owner));
      }
      expect(await storedRide(rideId)).to.deep.equal(before);
    });

    it('a redelivery is failed without a request if the body was erased in the meantime', async () => {
      const { rideId, owner } = await deliveredRide(1);
      const attemptId = await redeliver(ctx, { rideId, seq: 1 }, owner);
      await rides.updateOne({ _id: rideId }, { $unset: { 'events.0.body': '' } });
      await deliverResend(ctx, attemptId);
      expect(await stored(attemptId)).to.include({ state: 'done', outcome: 'failed', reason: 'body_erased' });
      expect(receiver.receipts).to.have.length(1);
    });

    it('a redelivery is erased if its ride is erased during the attempt', async () => {
      const { rideId, owner } = await deliveredRide(5);
      const attemptId = await redeliver(ctx, { rideId, seq: 1 }, owner);
      receiver.answerWith((response) => void eraseRides([rideId]).then(() => response.end()));
      expect(await deliverResend(ctx, attemptId)).to.include({ result: 'delivered' });
      expect(await stored(attemptId)).not.to.have.any.keys('headers', 'body', 'answer', 'url', 'address');
    });

    it('a redelivery waits for the previous one of its ride, which adds its job when it is done', async () => {
      const { rideId, owner } = await deliveredRide(3);
      const ids: string[] = [];
      for (const seq of [1, 2, 3]) ids.push(await redeliver(ctx, { rideId, seq }, owner));
      const [first = '', second = '', third = ''] = ids;
      expect(await jobFor(ctx, 'webhooks', { attemptId: first })).not.to.equal(undefined);
      for (const id of [second, third]) {
        expect(await jobFor(ctx, 'webhooks', { attemptId: id })).to.equal(undefined);
        expect(await deliverResend(ctx, id)).to.deep.equal({ result: 'not_its_turn' });
      }
      await deliverResend(ctx, first);
      expect((await jobFor(ctx, 'webhooks', { attemptId: second }))?.data).to.include({ attemptId: second });
      expect(await jobFor(ctx, 'webhooks', { attemptId: third })).to.equal(undefined);
    });

    it('at most 10 redeliveries of a key start within a second', async () => {
      const { keyId } = await newKey(ctx);
      const startedAt = performance.now();
      const asked = await Promise.all(Array.from({ length: 50 }, () => mayRedeliver(keyId)));
      const tookMs = performance.now() - startedAt;
      expect(asked.filter(Boolean).length).to.be.within(1, 1 + Math.ceil((tookMs + 100) / resendIntervalMs));
      const { nextRedeliveryAt } = (await keys.findOne({ _id: keyId })) ?? {};
      expect(nextRedeliveryAt).to.be.instanceOf(Date);
      // The most redeliveries within a second: one at its start, and one after each interval.
      expect(1 + Math.floor((1_000 + 100) / resendIntervalMs)).to.equal(10);
    });

    it('the throttle starts again if its next time is over 2 minutes ahead, as after a clock was set back', async () => {
      const { keyId } = await newKey(ctx);
      const mayStart = async (aheadMs: number) => {
        const nextRedeliveryAt = new Date(Date.now() + aheadMs);
        await keys.updateOne({ _id: keyId }, { $set: { nextRedeliveryAt } });
        return mayRedeliver(keyId);
      };
      expect([await mayStart(110_000), await mayStart(130_000)]).to.deep.equal([false, true]);
      expect((await keys.findOne({ _id: keyId }))?.nextRedeliveryAt).to.be.below(new Date(Date.now() + 1_000));
    });

    it('a throttled redelivery runs again later, without counting a try', async () => {
      const { rideId, keyId, owner } = await deliveredRide(1);
      const attemptId = await redeliver(ctx, { rideId, seq: 1 }, owner);
      await keys.updateOne({ _id: keyId }, { $set: { nextRedeliveryAt: new Date(Date.now() + 60_000) } });
      expect(await deliverResend(ctx, attemptId)).to.have.property('why', 'throttled');
      expect(await stored(attemptId)).to.include({ state: 'waiting', tries: 0 });
      await keys.updateOne({ _id: keyId }, { $set: { nextRedeliveryAt: new Date(0) } });
      expect(await deliverResend(ctx, attemptId)).to.include({ result: 'delivered' });
    });
  });

  describe('tries', () => {
    it('a resend is sent once if many workers have its job', async () => {
      const { attemptId } = await testEvent();
      const runs = await Promise.all(
        Array.from({ length: 8 }, () => deliverResend(ctx, attemptId, { pool: 'webhooks-slow' })),
      );
      expect(receiver.receipts).to.have.length(1);
      expect(runs.filter((run) => 'result' in run && run.result === 'delivered')).to.have.length(1);
    });

    it('a resend is sent once if its job runs again later', async () => {
      const { attemptId } = await testEvent();
      await deliverResend(ctx, attemptId);
      const before = await stored(attemptId);
      expect(await deliverResend(ctx, attemptId)).to.deep.equal({ result: 'done' });
      expect(await stored(attemptId)).to.deep.equal(before);
      expect(receiver.receipts).to.have.length(1);
    });

    it('a resend is sent after its claim has expired, if its worker was killed after the claim', async () => {
      const { attemptId } = await testEvent();
      await claimResend(attemptId, 'a worker that was killed');
      const held = await deliverResend(ctx, attemptId);
      expect(held).to.include({ why: 'held by another run' });
      // A claim lasts 12 s by MongoDB's clock, which may be some milliseconds ahead.
      expect('againInMs' in held && held.againInMs).to.be.within(100, 12_500);
      expect(receiver.receipts).to.have.length(0);
      await expireClaim(attemptId);
      expect(await deliverResend(ctx, attemptId)).to.include({ result: 'delivered' });
    });

    it('a resend gets a third try after two workers were killed, and a released claim does not count as a try', async () => {
      const { attemptId } = await testEvent();
      for (const token of ['first', 'second']) {
        await claimResend(attemptId, token);
        await expireClaim(attemptId);
      }
      const claimed = await claimResend(attemptId, 'nothing sent');
      await claimed?.release();
      expect(await stored(attemptId))
        .to.include({ state: 'waiting', tries: 2 })
        .and.not.to.have.property('claim');
      expect(await deliverResend(ctx, attemptId)).to.include({ result: 'delivered' });
    });

    it('a resend is recorded as `interrupted` after three workers were killed', async () => {
      const { attemptId } = await testEvent();
      for (let times = 0; times < 3; times++) {
        expect((await claimResend(attemptId, `worker ${times}`))?.record.tries).to.equal(times + 1);
        await expireClaim(attemptId);
      }
      await deliverResend(ctx, attemptId);
      expect(await stored(attemptId)).to.include({ state: 'done', outcome: 'failed', reason: 'interrupted' });
      expect(receiver.receipts).to.have.length(0);
    });

    it('a test event is not sent, but failed as `too_late`, after more than 10 minutes', async () => {
      const { attemptId } = await testEvent();
      await attempts.updateOne({ _id: attemptId }, { $set: { at: new Date(Date.now() - 11 * 60_000) } });
      await deliverResend(ctx, attemptId);
      expect(await stored(attemptId)).to.include({ state: 'done', outcome: 'failed', reason: 'too_late' });
      expect(receiver.receipts).to.have.length(0);
    });

    it('the outcome is recorded even if MongoDB is unavailable at first or refuses the full record', async () => {
      const { attemptId } = await testEvent();
      const { MongoNetworkError, MongoServerError } = (await import('mongoose')).default.mongo;
      failOnce(attempts, 'updateOne', new MongoNetworkError('connection lost'));
      await deliverResend(ctx, attemptId);
      expect(await stored(attemptId)).to.include({ state: 'done', outcome: 'delivered' });

      const other = await testEvent();
      failOnce(attempts, 'updateOne', new MongoServerError({ message: 'refused', code: 121 }));
      await deliverResend(ctx, other.attemptId);
      expect(await stored(other.attemptId)).to.include({ state: 'done', outcome: 'failed', reason: 'unrecordable' });
    });
  });

  it('only the run that holds the claim on a resend can renew it', async () => {
    const { attemptId } = await testEvent();
    const first = await claimResend(attemptId, 'a');
    expect(await claimResend(attemptId, 'b')).to.equal(null);
    const again = await claimResend(attemptId, 'a');
    expect(again?.record.tries).to.equal(1);
    expect(again?.claim.until).to.be.at.least(first?.claim.until as Date);
    await expireClaim(attemptId);
    expect((await claimResend(attemptId, 'b'))?.claim.token).to.equal('b');
    expect(await claimResend(attemptId, 'a')).to.equal(null);
  });

  it('a resend that times out marks the key as slow, and the next one is moved to the slow lane', async () => {
    receiver.answerWith(() => {});
    const { attemptId, keyId, owner } = await testEvent();
    expect(await withShortDeadline(() => deliverResend(ctx, attemptId))).to.include({ result: 'timeout' });
    expect(await stored(attemptId)).to.include({ outcome: 'timeout', reason: 'answer' });
    expect(await isSlow(ctx, keyId)).to.equal(true);
    await markSlow(ctx, keyId);
    const next = await sendTestEvent(ctx, keyId, owner);
    expect(await deliverResend(ctx, next)).to.deep.equal({ result: 'handed to webhooks-slow' });
    expect((await jobFor(ctx, 'webhooks-slow', { attemptId: next }))?.data).to.deep.equal({ attemptId: next, keyId });
    expect(await stored(next)).to.include({ state: 'waiting', tries: 0 });
  });

  it("failed test events do not count for the key's delivery health", async () => {
    receiver.answerWith((response) => response.writeHead(500).end());
    const { keyId, owner } = await newKey(ctx, receiver.url);
    for (let times = 0; times < 6; times++) await deliverResend(ctx, await sendTestEvent(ctx, keyId, owner));
    expect(await deliverySettings(ctx.config, keyId)).not.to.have.property('isFailing');
  });

  it('a resend waits under its claim while the process has no SECRETS_KEY', async () => {
    const { attemptId } = await testEvent();
    const keyless = { ...ctx, config: { ...ctx.config, secrets: { ...ctx.config.secrets, keys: [] as never } } };
    const postponed = await deliverResend(keyless, attemptId);
    expect(postponed).to.include({ why: 'secrets_key_missing' });
    const { state, tries, claim } = await stored(attemptId);
    expect({ state, tries }).to.deep.equal({ state: 'claimed', tries: 0 });
    await expireClaim(attemptId);
    expect(claim?.until).to.be.instanceOf(Date);
    expect(await deliverResend(ctx, attemptId)).to.include({ result: 'delivered' });
  });
});
