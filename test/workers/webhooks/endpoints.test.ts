import { expect } from 'chai';
import { newEndpointId } from '../../../shared/base/ids.ts';
import type { AttemptJob, DeliveryJob } from '../../../shared/base/queues.ts';
import type { SentEvent } from '../../../shared/base/terms.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import { endpoints, maxEndpoints } from '../../../shared/keys/endpoints.ts';
import {
  addEndpoint,
  deleteEndpoint,
  rollEndpointSecret,
  turnEndpoint,
} from '../../../shared/keys/manage-endpoints.ts';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { bringSuccessor } from '../../../shared/rides/rebid.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { attempts } from '../../../shared/webhooks/attempts.ts';
import { redeliver } from '../../../shared/webhooks/redeliver.ts';
import { sendTestEvent } from '../../../shared/webhooks/test-event.ts';
import { sweep } from '../../../workers/periodic/sweeper/sweep.ts';
import { claimEvent } from '../../../workers/webhooks/claim-event.ts';
import { deliver as deliverJob } from '../../../workers/webhooks/deliver.ts';
import { storeCopiesOf } from '../../../workers/webhooks/deliver-event.ts';
import { isSlow, markSlow } from '../../../workers/webhooks/slow-lane.ts';
import {
  deliver,
  deliverResend,
  isSignedWith,
  newKey,
  useDeliveries,
  withShortDeadline,
} from '../../support/deliveries.ts';
import type { Receipt } from '../../support/receiver.ts';
import { rideWithEvents } from '../../support/rides.ts';
import { jobFor, outcomeOf, storedRide } from '../../support/stored-rides.ts';

describe('copies of events for further endpoints', () => {
  const { receiver, ctx } = useDeliveries();
  const stop = new AbortController();

  /** A key whose default URL ends with `/first`, and an endpoint for each list of events, at `/second` and so on. */
  async function keyWith(...wanted: SentEvent[][]) {
    const { keyId, signingSecret, owner } = await newKey(ctx, `${receiver.origin}/first`);
    const added = [];
    for (const [index, events] of wanted.entries()) {
      const owned = { endpointId: newEndpointId(), keyId, ...owner };
      const url = `${receiver.origin}/${['second', 'third'][index]}`;
      added.push({ owned, secret: (await addEndpoint(ctx.config, owned, { url, events }))?.signingSecret ?? '' });
    }
    return { keyId, signingSecret, owner, added };
  }
  const rideOf = (key: Awaited<ReturnType<typeof keyWith>>, events: number) =>
    rideWithEvents(ctx, key, events, key.owner);
  const copiesOf = (rideId: string) =>
    attempts.find({ rideId, endpointId: { $exists: true } }, { sort: { dueAt: 1, _id: 1 } }).toArray();
  const runAll = async (rideId: string) => {
    for (const { _id } of await copiesOf(rideId)) await deliverResend(ctx, _id);
  };
  const arrived = (path: string): Receipt[] => receiver.receipts.filter((receipt) => receipt.path === path);
  const sequences = (path: string) => arrived(path).map(({ headers }) => Number(headers['x-service-sequence']));
  const expireClaim = (rideId: string) => rides.updateOne({ _id: rideId }, { $set: { 'claim.until': new Date(0) } });

  it('each endpoint gets one copy of the events it wants, in order, with the same body and its own signature', async () => {
    const key = await keyWith(['offer.received', 'ride.status'], ['ride.status']);
    const rideId = await rideOf(key, 3);
    for (const seq of [1, 2, 3]) await deliver(ctx, rideId, seq);
    await runAll(rideId);
    const { events } = await storedRide(rideId);
    const statuses = events.filter(({ event }) => event === 'ride.status').map(({ seq }) => seq);
    expect([sequences('/first'), sequences('/second'), sequences('/third')]).to.deep.equal([
      [1, 2, 3],
      [1, 2, 3],
      statuses,
    ]);
    for (const [index, receipt] of arrived('/second').entries()) {
      expect(receipt.raw).to.equal(events[index]?.body);
      expect(isSignedWith(key.added[0]?.secret ?? '', receipt)).to.equal(true);
      expect(isSignedWith(key.signingSecret, receipt)).to.equal(false);
      expect(receipt.headers).not.to.have.any.keys('x-service-redelivery', 'x-service-test');
    }
    for (const copy of await copiesOf(rideId)) expect(copy).to.include({ kind: 'event', outcome: 'delivered' });
  });

  it("a copy is due at once, even if MongoDB's clock was set back and its event is dated ahead", async () => {
    const rideId = await rideOf(await keyWith(['offer.received']), 1);
    await rides.updateOne({ _id: rideId }, { $set: { 'events.0.at': new Date(Date.now() + 3_600_000) } });
    await deliver(ctx, rideId, 1);
    const [copy] = await copiesOf(rideId);
    expect((await jobFor(ctx, 'webhooks', { attemptId: copy?._id ?? '' }))?.opts.delay).to.equal(0);
    await ctx.redis.flushall();
    await sweep(ctx, { everything: true });
    expect((await jobFor(ctx, 'webhooks', { attemptId: copy?._id ?? '' }))?.opts.delay).to.equal(0);
  });

  it('a failed copy is not repeated, and delays neither the next event nor another endpoint', async () => {
    const key = await keyWith(['offer.received', 'ride.status'], ['offer.received', 'ride.status']);
    const rideId = await rideOf(key, 2);
    receiver.answerWith((response, { path }) => response.writeHead(path === '/second' ? 500 : 200).end());
    for (const seq of [1, 2]) await deliver(ctx, rideId, seq);
    expect((await storedRide(rideId)).events.map(({ delivery }) => delivery?.outcome)).to.deep.equal([
      'delivered',
      'delivered',
    ]);
    const [first] = await copiesOf(rideId);
    const other = (await copiesOf(rideId)).find(({ endpointId }) => endpointId !== first?.endpointId);
    // Each lane has its own next copy, whatever happens in the other one.
    for (const copy of [first, other]) {
      expect(await jobFor(ctx, 'webhooks', { attemptId: copy?._id ?? '' })).not.to.equal(undefined);
    }
    await runAll(rideId);
    await runAll(rideId);
    expect([sequences('/second'), sequences('/third')]).to.deep.equal([
      [1, 2],
      [1, 2],
    ]);
    expect((await keys.findOne({ _id: key.keyId }))?.failing).to.equal(undefined);
  });

  it('a copy can be resent once it was sent, also before the attempt for the default URL is made', async () => {
    const key = await keyWith(['offer.received']);
    const rideId = await rideOf(key, 1);
    const claimed = await claimEvent(rideId, 1, 'a run that waits for the default URL');
    if (claimed) await storeCopiesOf(ctx, claimed, { outcome: 'unable' });
    const endpointId = key.added[0]?.owned.endpointId;
    const resend = () => outcomeOf(redeliver(ctx, { rideId, seq: 1, endpointId }, key.owner));
    expect(await resend()).to.equal('not_sent_yet');
    await runAll(rideId);
    expect(await resend()).to.equal('done');
  });

  it('the copies of an endpoint run in order: a later one waits for its turn', async () => {
    const key = await keyWith(['offer.received', 'ride.status']);
    const rideId = await rideOf(key, 2);
    for (const seq of [1, 2]) await deliver(ctx, rideId, seq);
    const [first, second] = await copiesOf(rideId);
    expect(await deliverResend(ctx, second?._id ?? '')).to.deep.equal({ result: 'not_its_turn' });
    await deliverResend(ctx, first?._id ?? '');
    expect(await jobFor(ctx, 'webhooks', { attemptId: second?._id ?? '' })).not.to.equal(undefined);
  });

  it('after a crash between the claim and the copies, the run that takes over stores them', async () => {
    const key = await keyWith(['offer.received']);
    const rideId = await rideOf(key, 1);
    await claimEvent(rideId, 1, 'a run that died');
    expect(await copiesOf(rideId)).to.deep.equal([]);
    await expireClaim(rideId);
    await ctx.redis.flushall();
    await sweep(ctx, { everything: true });
    expect(await jobFor(ctx, 'webhooks', { rideId, seq: 1 })).not.to.equal(undefined);
    await deliver(ctx, rideId, 1);
    await runAll(rideId);
    expect(sequences('/second')).to.deep.equal([1]);
  });

  it('after a crash between the copies and the send, no second copy is stored', async () => {
    const key = await keyWith(['offer.received']);
    const rideId = await rideOf(key, 1);
    const claimed = await claimEvent(rideId, 1, 'a run that died');
    if (claimed) await storeCopiesOf(ctx, claimed, { outcome: 'unable' });
    expect(await copiesOf(rideId)).to.have.length(1);
    await runAll(rideId);
    await expireClaim(rideId);
    await deliver(ctx, rideId, 1);
    await runAll(rideId);
    expect([sequences('/first'), sequences('/second')]).to.deep.equal([[1], [1]]);
  });

  it('an event is sent to the default URL only after its copies are stored', async () => {
    const key = await keyWith(['offer.received']);
    const rideId = await rideOf(key, 1);
    let stored = 0;
    receiver.answerWith(async (response) => {
      stored = (await copiesOf(rideId)).length;
      response.end();
    });
    await deliver(ctx, rideId, 1);
    expect(stored).to.equal(1);
  });

  it('no endpoint waits for the default URL: for an attempt that is in progress, or in the slow lane', async () => {
    const key = await keyWith(['offer.received', 'ride.status']);
    const copied = async (rideId: string) => (await copiesOf(rideId)).map(({ seq }) => seq);
    const behind = await rideOf(key, 3);
    const job = await jobFor(ctx, 'webhooks', { rideId: behind, seq: 3, copiesOnly: true });
    const copy = () =>
      deliverJob(ctx, job?.data as DeliveryJob, { pool: 'webhooks', token: 'one', stopping: stop.signal });
    await rides.updateOne({ _id: behind }, { $set: { heldAt: new Date() } });
    await copy();
    expect(await copied(behind)).to.deep.equal([]);
    await rides.updateOne({ _id: behind }, { $unset: { heldAt: '' } });
    expect(await copy()).to.deep.equal({ result: 'copied' });
    expect(await copied(behind)).to.deep.equal([1, 2, 3]);
    await markSlow(ctx, key.keyId);
    const slow = await rideOf(key, 1);
    expect(await deliver(ctx, slow, 1)).to.deep.equal({ result: 'handed to webhooks-slow' });
    expect(await copied(slow)).to.deep.equal([1]);
    for (const rideId of [behind, slow]) await runAll(rideId);
    expect([sequences('/first'), sequences('/second')]).to.deep.equal([[], [1, 2, 3, 1]]);
  });

  it('a copy of an event that names the next ride is stored only once that ride exists, and then at once', async () => {
    const key = await keyWith(['ride.status']);
    const rideId = await rideWithEvents(ctx, key, 2, { ...key.owner, onDriverCancel: 'rebid' });
    await applyAction(ctx, rideId, { action: 'cancel', by: 'driver' }, 'anyone');
    const copyJob = () => jobFor(ctx, 'webhooks', { rideId, seq: 3, copiesOnly: true });
    const copy = (job: Awaited<ReturnType<typeof copyJob>>) =>
      deliverJob(ctx, job?.data as DeliveryJob, { pool: 'webhooks', token: 'one', stopping: stop.signal });
    const early = await copyJob();
    await copy(early);
    await early?.remove();
    await markSlow(ctx, key.keyId);
    expect(await deliver(ctx, rideId, 1)).to.deep.equal({ result: 'handed to webhooks-slow' });
    expect(await copiesOf(rideId)).to.deep.equal([]);
    await bringSuccessor(ctx, rideId);
    await copy(await copyJob());
    expect((await copiesOf(rideId)).map(({ seq }) => seq)).to.deep.equal([2, 3]);
  });

  it('a copy without a job gets one from the sweeper, one for each endpoint', async () => {
    const key = await keyWith(['offer.received', 'ride.status'], ['offer.received', 'ride.status']);
    const rideId = await rideOf(key, 2);
    for (const seq of [1, 2]) await deliver(ctx, rideId, seq);
    await ctx.redis.flushall();
    await sweep(ctx, { everything: true });
    const copies = await copiesOf(rideId);
    const found = await Promise.all(copies.map(({ _id }) => jobFor(ctx, 'webhooks', { attemptId: _id })));
    const jobs = found.flatMap((job) => (job?.data as AttemptJob | undefined) ?? []);
    expect(jobs.map(({ endpointId }) => endpointId)).to.have.members(key.added.map(({ owned }) => owned.endpointId));
  });

  const closed = {
    endpoint_off: (owned: Parameters<typeof deleteEndpoint>[0]) => turnEndpoint('off', owned, 'a form'),
    endpoint_deleted: deleteEndpoint,
  };
  for (const [reason, close] of Object.entries(closed)) {
    it(`what waits is recorded as failed with ${reason}, and no further copy is stored`, async () => {
      const key = await keyWith(['offer.received', 'ride.status']);
      const rideId = await rideOf(key, 2);
      await deliver(ctx, rideId, 1);
      await close(key.added[0]?.owned as Parameters<typeof deleteEndpoint>[0]);
      await deliver(ctx, rideId, 2);
      await runAll(rideId);
      const copies = await copiesOf(rideId);
      expect(copies.map(({ outcome, reason, state }) => ({ outcome, reason, state }))).to.deep.equal([
        { outcome: 'failed', reason, state: 'done' },
      ]);
      expect([sequences('/first'), sequences('/second')]).to.deep.equal([[1, 2], []]);
    });
  }

  it('a timeout marks only the endpoint as slow', async () => {
    const key = await keyWith(['offer.received']);
    const rideId = await rideOf(key, 1);
    await deliver(ctx, rideId, 1);
    receiver.answerWith(() => {});
    const [copy] = await copiesOf(rideId);
    const run = () => deliverResend(ctx, copy?._id ?? '');
    expect(await withShortDeadline(run)).to.include({ result: 'timeout' });
    expect(await isSlow(ctx, key.keyId)).to.equal(false);
    expect(await isSlow(ctx, copy?.endpointId ?? '')).to.equal(true);
  });

  it("a ride's own URL replaces only the default one", async () => {
    const key = await keyWith(['offer.received']);
    const rideId = await rideOf(key, 1);
    await rides.updateOne({ _id: rideId }, { $set: { webhookUrl: `${receiver.origin}/own` } });
    await deliver(ctx, rideId, 1);
    await runAll(rideId);
    expect(receiver.receipts.map(({ path }) => path)).to.have.members(['/own', '/second']);
  });

  it('resends and test events go to the endpoint for which they are asked, with its newest secret', async () => {
    const key = await keyWith(['offer.received']);
    const { owned } = key.added[0] as (typeof key.added)[number];
    const rideId = await rideOf(key, 1);
    await deliver(ctx, rideId, 1);
    await runAll(rideId);
    const rolled = await rollEndpointSecret(ctx.config, owned, { id: 'a form', seen: '0' });
    const both = [undefined, owned.endpointId].map((endpointId) =>
      redeliver(ctx, { rideId, seq: 1, endpointId }, key.owner),
    );
    const test = await sendTestEvent(ctx, key.keyId, { ...key.owner, endpointId: owned.endpointId });
    for (const attemptId of [...(await Promise.all(both)), test]) {
      // On a fast machine, the throttle of the key's redeliveries would postpone the second one.
      await keys.updateOne({ _id: key.keyId }, { $set: { nextRedeliveryAt: new Date(0) } });
      await deliverResend(ctx, attemptId);
    }
    const marks = (path: string) =>
      arrived(path).map(({ headers }) => [headers['x-service-redelivery'], headers['x-service-test']]);
    expect(marks('/first')).to.deep.equal([
      [undefined, undefined],
      ['true', undefined],
    ]);
    expect(marks('/second')).to.have.deep.members([
      [undefined, undefined],
      ['true', undefined],
      [undefined, 'true'],
    ]);
    expect(isSignedWith(rolled, arrived('/second').at(-1))).to.equal(true);
  });

  it('concurrent requests cannot exceed the limit of a key', async () => {
    const { keyId, owner } = await keyWith();
    const add = () => {
      const owned = { endpointId: newEndpointId(), keyId, ...owner };
      return addEndpoint(ctx.config, owned, { url: receiver.url, events: ['ride.status'] }).catch(({ code }) => code);
    };
    const made = await Promise.all(Array.from({ length: 8 }, add));
    expect(made.filter((each) => each === 'endpoints_full')).to.have.length(8 - (maxEndpoints - 1));
    expect(await endpoints.countDocuments({ keyId })).to.equal(maxEndpoints - 1);
  });
});
