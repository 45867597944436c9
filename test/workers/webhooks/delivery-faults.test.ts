import { expect } from 'chai';
import mongoose from 'mongoose';
import { rollSigningSecret } from '../../../shared/keys/replace-secret.ts';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { claimEvent } from '../../../workers/webhooks/claim-event.ts';
import { beforeTheAnswer, deliver, insteadOf, isSignedWith, newKey, useDeliveries } from '../../support/deliveries.ts';
import { withLogLines } from '../../support/log-lines.ts';
import { rideWithEvents } from '../../support/rides.ts';
import { jobFor, storedRide } from '../../support/stored-rides.ts';
import { divertOutbound } from '../../support/webhook-outbound.ts';

describe('event delivery with faults', () => {
  let restoreWrites = () => {};
  const { now } = Date;
  const { receiver, ctx, rideWith } = useDeliveries();
  afterEach(() => {
    restoreWrites();
    Date.now = now;
  });

  const { MongoNetworkError, MongoServerError } = mongoose.mongo;
  const connectionLost = () => Promise.reject(new MongoNetworkError('connection lost'));
  // The errors of a lost reply. The driver throws the second one if the engine stops during a write; a stopping server
  // returns the third one.
  const lostAnswers: Record<string, Error> = {
    'broken connection': new MongoNetworkError('connection lost'),
    'closed socket': Object.assign(new Error('write EPIPE'), { code: 'EPIPE', syscall: 'write' }),
    'stopping MongoDB': new MongoServerError({ message: 'interrupted at shutdown', code: 11_600 }),
  };

  it("a second run adds the next event's job if the first run died before it added that job", async () => {
    const rideId = await rideWith(2);
    await deliver(ctx, rideId, 1);
    await (await jobFor(ctx, 'webhooks', { rideId, seq: 2 }))?.remove();
    expect(await deliver(ctx, rideId, 1)).to.deep.equal({ result: 'settled' });
    expect((await jobFor(ctx, 'webhooks', { rideId, seq: 2 }))?.data).to.include({ rideId, seq: 2 });
  });

  it('outcomes that are written in one batch are each recorded on the right event', async () => {
    const rideIds = await Promise.all(Array.from({ length: 20 }, () => rideWith(1)));
    await Promise.all(rideIds.map((rideId) => deliver(ctx, rideId, 1, { pool: 'webhooks-slow' })));
    for (const rideId of rideIds) {
      const { events, settledSeq } = await storedRide(rideId);
      expect([settledSeq, events[0]?.delivery?.outcome]).to.deep.equal([1, 'delivered']);
    }
    expect(receiver.receipts.map(({ body }) => body.rideId)).to.have.members(rideIds);
  });

  it('an event is sent once if its job runs ten times concurrently, and the others run again later', async () => {
    const rideId = await rideWith(1);
    const runs = await Promise.all(Array.from({ length: 10 }, () => deliver(ctx, rideId, 1)));
    expect(runs.filter((run) => 'result' in run && run.result === 'delivered')).to.have.length(1);
    for (const run of runs) if ('againInMs' in run) expect(run.againInMs).to.be.within(1, 12_000);
    expect(receiver.receipts).to.have.length(1);
    expect(await storedRide(rideId)).to.include({ settledSeq: 1, unsettled: 0 });
  });

  it('no attempt is made for an event that must wait for an earlier one, or for a missing event or ride', async () => {
    const rideId = await rideWith(2);
    expect(await deliver(ctx, rideId, 2)).to.deep.equal({ result: 'not_its_turn' });
    expect(await deliver(ctx, 'ride_of_nobody', 1)).to.deep.equal({ result: 'settled' });
    expect(receiver.receipts).to.have.length(0);
    expect(await storedRide(rideId))
      .to.include({ settledSeq: 0 })
      .and.not.to.have.property('claim');
  });

  it("a run waits until another run's claim expires by MongoDB's clock", async () => {
    const rideId = await rideWith(1);
    await claimEvent(rideId, 1, 'another run');
    await rides.updateOne({ _id: rideId }, [{ $set: { 'claim.until': { $add: ['$$NOW', 3_600_000] } } }]);
    const run = await deliver(ctx, rideId, 1);
    expect('againInMs' in run && run.againInMs)
      .to.be.greaterThan(3_000_000)
      .and.at.most(3_600_000);
    expect(receiver.receipts).to.have.length(0);
  });

  it('an event is sent again, with the same body and id, if a crash prevented its recording', async () => {
    const key = await newKey(ctx, receiver.url);
    const rideId = await rideWithEvents(ctx, key, 1);
    await new Promise<void>((reached) => {
      restoreWrites = insteadOf('settling', () => {
        reached();
        // Never resolves, so that this run stops here as if its worker had been killed.
        return new Promise(() => {});
      });
      void deliver(ctx, rideId, 1);
    });
    restoreWrites();
    await rides.updateOne({ _id: rideId }, { $set: { 'claim.until': new Date(0) } });

    expect(await deliver(ctx, rideId, 1)).to.include({ result: 'delivered' });
    const [first, second] = receiver.receipts;
    expect(second?.raw).to.equal(first?.raw);
    expect(second?.headers['x-service-event-id']).to.equal(first?.headers['x-service-event-id']);
    expect(receiver.receipts).to.have.length(2);
    expect(isSignedWith(key.signingSecret, second)).to.equal(true);
  });

  const accept = async (rideId: string) => {
    const { offers } = await storedRide(rideId);
    return applyAction(ctx, rideId, { action: 'accept', offerId: offers[0]?.offerId ?? '' }, 'anyone');
  };

  it('an event that occurs while the last event is sent gets its job', async () => {
    const rideId = await rideWith(1);
    receiver.answerWith(async (response) => {
      await accept(rideId);
      response.end();
    });
    expect(await deliver(ctx, rideId, 1)).to.include({ result: 'delivered' });
    expect(await storedRide(rideId)).to.include({ seq: 2, settledSeq: 1, unsettled: 1 });
    expect((await jobFor(ctx, 'webhooks', { rideId, seq: 2 }))?.data).to.include({ rideId, seq: 2 });
  });

  it('the last event is settled once if a new event occurs before the reply to the settling is lost', async () => {
    const rideId = await rideWith(1);
    beforeTheAnswer('settling', async () => {
      await accept(rideId);
      await connectionLost();
    });
    expect(await deliver(ctx, rideId, 1)).to.include({ result: 'delivered' });
    expect(await storedRide(rideId)).to.include({ seq: 2, settledSeq: 1, unsettled: 1 });
    expect(await jobFor(ctx, 'webhooks', { rideId, seq: 2 })).not.to.equal(undefined);
    expect(receiver.receipts).to.have.length(1);
  });

  for (const [why, error] of Object.entries(lostAnswers)) {
    it(`the next event gets its job if only the reply to the settling is lost: ${why}`, async () => {
      const rideId = await rideWith(2);
      beforeTheAnswer('settling', () => Promise.reject(error));
      expect(await deliver(ctx, rideId, 1)).to.include({ result: 'delivered' });
      expect(await storedRide(rideId)).to.include({ settledSeq: 1, unsettled: 1 });
      expect(await jobFor(ctx, 'webhooks', { rideId, seq: 2 })).not.to.equal(undefined);
      expect(receiver.receipts).to.have.length(1);
    });
  }

  it('an outcome is recorded as soon as MongoDB is back, and the event is not sent again', async () => {
    const rideId = await rideWith(1);
    let outages = 2;
    restoreWrites = insteadOf('settling', (write) => (outages-- > 0 ? connectionLost() : write()));
    expect(await deliver(ctx, rideId, 1)).to.include({ result: 'delivered' });
    expect(await storedRide(rideId)).to.include({ settledSeq: 1, unsettled: 0 });
    expect(receiver.receipts).to.have.length(1);
  });

  describe('old claims', () => {
    const renewals: unknown[] = [];
    const noteRenewal = () => beforeTheAnswer('claim', () => renewals.push('renewed'));
    const sleepFor = (ms: number) => {
      Date.now = () => now() + ms;
    };
    beforeEach(() => {
      renewals.length = 0;
    });

    it('if connecting takes over a second, the claim is renewed and a new secret already signs', async () => {
      const key = await newKey(ctx, receiver.url);
      const rideId = await rideWithEvents(ctx, key, 1);
      let rolled = '';
      beforeTheAnswer('claim', async () => {
        rolled = (await rollSigningSecret(ctx.config, key.keyId, 'anyone')).signingSecret;
        noteRenewal();
      });
      const outbound = divertOutbound(() => {
        sleepFor(1_500);
        return { port: Number(new URL(receiver.origin).port) };
      });
      expect(await deliver(ctx, rideId, 1)).to.include({ result: 'delivered' });
      outbound.restore();
      expect(renewals).to.deep.equal(['renewed']);
      expect(isSignedWith(rolled, receiver.receipts[0])).to.equal(true);
    });

    for (const [tookMs, expected] of [
      [2_500, []],
      [3_500, ['renewed']],
    ] as const) {
      it(`a claim that took ${tookMs} ms is renewed ${expected.length} times, and the event is delivered`, async () => {
        const key = await newKey(ctx, receiver.url);
        const rideId = await rideWithEvents(ctx, key, 1);
        beforeTheAnswer('claim', () => {
          sleepFor(tookMs);
          noteRenewal();
        });
        expect(await deliver(ctx, rideId, 1)).to.include({ result: 'delivered' });
        expect(renewals).to.deep.equal(expected);
        expect(isSignedWith(key.signingSecret, receiver.receipts[0])).to.equal(true);
      });
    }
  });

  it('a run sends and records nothing if another run claimed the event during a long pause', async () => {
    const rideId = await rideWith(1);
    beforeTheAnswer('claim', async () => {
      Date.now = () => now() + 20_000;
      await rides.updateOne({ _id: rideId }, { $set: { 'claim.token': 'another run' } });
    });
    expect(await deliver(ctx, rideId, 1)).to.include({ why: 'held by another run' });
    expect(receiver.receipts).to.have.length(0);
    const ride = await storedRide(rideId);
    expect(ride).to.include({ settledSeq: 0, unsettled: 1 });
    expect(ride.claim?.token).to.equal('another run');
    expect(ride.events[0]).not.to.have.property('delivery');
  });

  it('a run records nothing if another run claimed the event while it was sent', async () => {
    const rideId = await rideWith(2);
    receiver.answerWith(async (response) => {
      await rides.updateOne({ _id: rideId }, { $set: { 'claim.token': 'another run' } });
      response.end();
    });
    await deliver(ctx, rideId, 1);
    const ride = await storedRide(rideId);
    expect(ride).to.include({ settledSeq: 0, unsettled: 2 });
    expect(ride.events[0]).not.to.have.property('delivery');
    expect(await jobFor(ctx, 'webhooks', { rideId, seq: 2 })).to.equal(undefined);
  });

  it("the signature and the record have the claim's time by MongoDB's clock, not the worker's", async () => {
    const rideId = await rideWith(1);
    const at = new Date(Date.now() - 30_000);
    beforeTheAnswer('claim', ({ claim }) => Object.assign(claim ?? {}, { at }));
    await deliver(ctx, rideId, 1);
    expect(receiver.receipts[0]?.headers['x-service-signature']).to.match(
      new RegExp(`^t=${Math.floor(at.getTime() / 1_000)},v1=`),
    );
    expect((await storedRide(rideId)).events[0]?.delivery?.at).to.deep.equal(at);
  });

  describe('differing clocks of MongoDB and the worker', () => {
    const stopping = AbortSignal.abort();
    const waits = { againInMs: 0, why: 'clocks_differ' };

    it('a worker whose clock differs by over a minute claims nothing and logs an error', async () => {
      const rideId = await rideWith(1);
      for (const aheadMs of [61_000, -61_000]) {
        const wrong = withLogLines({ ...ctx, now: () => Date.now() + aheadMs });
        expect(await deliver(wrong.ctx, rideId, 1, { stopping })).to.deep.equal(waits);
        expect(wrong.errors()).to.have.length(1);
        expect(wrong.errors()[0]).to.include({ reason: 'clocks_differ', rideId });
      }
      expect(await storedRide(rideId)).not.to.have.property('claim');
      expect(receiver.receipts).to.have.length(0);
      expect(await deliver(ctx, rideId, 1)).to.include({ result: 'delivered' });
    });

    it('a worker releases its claim if only the time of the claim shows that the clocks differ', async () => {
      const rideId = await rideWith(1);
      beforeTheAnswer('claim', ({ claim }) => Object.assign(claim ?? {}, { at: new Date(Date.now() - 61_000) }));
      expect(await deliver(ctx, rideId, 1, { stopping })).to.deep.equal(waits);
      expect(await storedRide(rideId)).not.to.have.property('claim');
      expect(receiver.receipts).to.have.length(0);
    });

    it('a worker whose clock differs by 59 s delivers', async () => {
      const rideId = await rideWith(1);
      expect(await deliver({ ...ctx, now: () => Date.now() + 59_000 }, rideId, 1)).to.include({ result: 'delivered' });
    });
  });
});
