import { expect } from 'chai';
import type { Context } from '../../shared/base/context.ts';
import { migrate } from '../../shared/process/migrate-database.ts';
import { rides } from '../../shared/rides/ride.ts';
import { attempts } from '../../shared/webhooks/attempts.ts';
import { sendTestEvent } from '../../shared/webhooks/test-event.ts';
import { openDue, startOpener } from '../../workers/periodic/opener.ts';
import { sweep } from '../../workers/periodic/sweeper/sweep.ts';
import { claimEvent } from '../../workers/webhooks/claim-event.ts';
import { claimResend } from '../../workers/webhooks/claim-resend.ts';
import { deliver, deliverResend, newKey, withTargets } from '../support/deliveries.ts';
import { somewhere } from '../support/drivers.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { newRide, rideWithEvents } from '../support/rides.ts';
import { testContext } from '../support/service.ts';
import { describeOnLinux, type SteppableMongo, startSteppableMongo } from '../support/steppable-mongo.ts';
import { jobFor, storedRide } from '../support/stored-rides.ts';
import { until } from '../support/until.ts';

const hourMs = 3_600_000;

describeOnLinux("workers while MongoDB's clock is set", function () {
  // On a new machine, the first start may have to download packages.
  this.timeout(120_000);
  const { now } = performance;
  let passedMs = 0;
  let mongo: SteppableMongo;
  let ctx: Context;
  let receiver: Receiver;
  let key: Awaited<ReturnType<typeof newKey>>;
  let rideId: string;

  before(async () => {
    mongo = await startSteppableMongo();
    receiver = await startReceiver();
    ctx = withTargets(await testContext({ MONGO_URL: mongo.url }), receiver.origin);
    await migrate(ctx.config.secrets.keys);
    // The worker's clock is this host's clock, which agrees with MongoDB's clock once that was set back.
    ctx = { ...ctx, now: Date.now };
  });
  beforeEach(async () => {
    receiver.receipts.length = 0;
    await mongo.setClock(hourMs);
    key = await newKey(ctx, receiver.url);
    rideId = await rideWithEvents(anHourAhead(), key, 1);
  });
  afterEach(() => {
    performance.now = now;
    passedMs = 0;
  });
  after(async () => {
    await ctx?.close();
    await receiver?.close();
    await mongo?.close();
  });

  const anHourAhead = (): Context => ({ ...ctx, now: () => Date.now() + hourMs });
  const letPass = (ms: number) => {
    passedMs += ms;
    performance.now = () => now.call(performance) + passedMs;
  };
  const why = "held by another run, by a clock ahead of MongoDB's";

  it('a run waits for the full duration of a claim dated in the future, then claims the event', async () => {
    await claimEvent(rideId, 1, 'a run that ended');
    await mongo.setClock(0);
    expect(await deliver(ctx, rideId, 1)).to.deep.equal({ againInMs: 3_000, why });
    letPass(6_000);
    expect(await deliver(ctx, rideId, 1)).to.deep.equal({ againInMs: 3_000, why });
    expect(receiver.receipts).to.have.length(0);
    letPass(6_000);
    expect(await deliver(ctx, rideId, 1)).to.include({ result: 'delivered' });
  });

  it('a run waits for the full duration again after a claim dated in the future was renewed', async () => {
    await claimEvent(rideId, 1, 'a run that works');
    await mongo.setClock(1_800_000);
    expect(await deliver(ctx, rideId, 1)).to.include({ why });
    letPass(12_000);
    await claimEvent(rideId, 1, 'a run that works');
    await mongo.setClock(0);
    expect(await deliver(ctx, rideId, 1)).to.include({ why });
    letPass(11_000);
    expect(await deliver(ctx, rideId, 1)).to.include({ why });
    expect(receiver.receipts).to.have.length(0);
  });

  it('a run can renew its own claim dated in the future, and settle', async () => {
    await claimEvent(rideId, 1, 'a run that works');
    await mongo.setClock(0);
    expect(await deliver(ctx, rideId, 1, { token: 'a run that works' })).to.include({ result: 'delivered' });
  });

  it('a claim does not expire early if the clock is set ahead while its run works', async () => {
    await mongo.setClock(-hourMs);
    await claimEvent(rideId, 1, 'a run that works');
    await mongo.setClock(0);
    const before = { ...ctx, nowBeforeSteps: () => Date.now() - hourMs };
    const { againInMs, why: held } = (await deliver(before, rideId, 1)) as { againInMs: number; why: string };
    expect(againInMs).to.be.within(1, 13_000);
    expect(held).to.equal('held by another run');
    expect(await claimEvent(rideId, 1, 'another run', new Date(before.nowBeforeSteps()))).to.equal(null);
    expect(receiver.receipts).to.have.length(0);
    const later = { ...ctx, nowBeforeSteps: () => Date.now() };
    expect(await deliver(later, rideId, 1)).to.include({ result: 'delivered' });
  });

  it('the sweeper adds the lost job of an event with a claim dated in the future', async () => {
    await claimEvent(rideId, 1, 'a run that ended');
    await ctx.redis.flushall();
    await mongo.setClock(0);
    await sweep(ctx, { everything: false });
    expect((await jobFor(ctx, 'webhooks', { rideId, seq: 1 }))?.data).to.include({ rideId, seq: 1 });
    expect((await rides.findOne({ _id: rideId }))?.claim?.token).to.equal('a run that ended');
  });

  it('a run waits for the full duration of a test event’s claim dated in the future, then claims it', async () => {
    const attemptId = await sendTestEvent(anHourAhead(), key.keyId, key.owner);
    await claimResend(attemptId, 'a run that ended');
    await mongo.setClock(0);
    expect(await deliverResend(ctx, attemptId)).to.deep.equal({ againInMs: 3_000, why: 'held by another run' });
    letPass(12_000);
    expect(await deliverResend(ctx, attemptId)).to.include({ result: 'delivered' });
    expect(await attempts.findOne({ _id: attemptId })).to.include({ state: 'done' });
  });

  it('rides open by the clock of MongoDB, once, also after it was set ahead and back and Redis was emptied', async () => {
    await mongo.setClock(0);
    const now = Date.now();
    const due = await newRide(ctx, { pickup: somewhere(), pickupAt: new Date(now + hourMs) });
    const waiting = await newRide(ctx, { pickup: somewhere(), pickupAt: new Date(now + 30 * hourMs) });
    expect(await openDue(ctx)).to.equal(0);
    await mongo.setClock(-hourMs);
    expect(await openDue(ctx)).to.equal(0);
    const opener = startOpener(ctx);
    try {
      await ctx.redis.flushall();
      await mongo.setClock(hourMs);
      await until(async () => (await storedRide(due)).openedAt !== undefined);
    } finally {
      await opener.stop();
    }
    await mongo.setClock(0);
    expect(await openDue(ctx)).to.equal(0);
    const { openedAt, biddingEndsAt, rev } = await storedRide(due);
    expect(rev).to.equal(1);
    expect(Number(openedAt)).to.be.above(now + hourMs / 2);
    expect(Number(biddingEndsAt) - Number(openedAt)).to.equal(600_000);
    expect(await rides.countDocuments({ _id: waiting, openedAt: { $exists: true } })).to.equal(0);
  });
});
