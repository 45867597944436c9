import { expect } from 'chai';
import { eventId } from '../../../shared/base/ids.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import { revokeKey } from '../../../shared/keys/manage-keys.ts';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { bringSuccessor } from '../../../shared/rides/rebid.ts';
import { sweep } from '../../../workers/periodic/sweeper/sweep.ts';
import { deliver, isSignedWith, newKey, useDeliveries, withTargets } from '../../support/deliveries.ts';
import { startReceiver } from '../../support/receiver.ts';
import { rideWithEvents } from '../../support/rides.ts';
import { jobFor, storedRide } from '../../support/stored-rides.ts';

describe('event delivery', () => {
  const { receiver, ctx, rideWith } = useDeliveries();

  const logged = async (rideId: string, seq = 1) => (await storedRide(rideId)).events[seq - 1]?.delivery;

  describe('request', () => {
    it('each event is sent with its stored body and the headers of the contract', async () => {
      const key = await newKey(ctx, receiver.url);
      const rideId = await rideWithEvents(ctx, key, 2);
      for (const [seq, event] of [
        [1, 'offer.received'],
        [2, 'ride.status'],
      ] as const) {
        await deliver(ctx, rideId, seq);
        const receipt = receiver.receipts[seq - 1];
        expect(receipt?.raw).to.equal((await storedRide(rideId)).events[seq - 1]?.body);
        expect(receipt?.headers).to.include({
          'content-type': 'application/json',
          'x-service-event': event,
          'x-service-event-id': eventId(rideId, seq),
          'x-service-sequence': String(seq),
        });
        expect(receipt?.body).to.include({ eventId: eventId(rideId, seq), sequence: seq });
        expect(isSignedWith(key.signingSecret, receipt)).to.equal(true);
      }
    });
  });

  describe('recorded outcome', () => {
    it('an event with another status than 2xx is failed and settled, and the next event gets its job', async () => {
      receiver.answerWith((response) => response.writeHead(500).end());
      const rideId = await rideWith(2);
      expect(await deliver(ctx, rideId, 1)).to.include({ result: 'failed', httpStatus: 500 });
      const failed = { outcome: 'failed', httpStatus: 500, reason: 'status', url: receiver.url };
      expect(await logged(rideId)).to.include(failed);
      const ride = await storedRide(rideId);
      expect(ride).to.include({ settledSeq: 1, unsettled: 1 }).and.not.to.have.property('claim');
      const job = await jobFor(ctx, 'webhooks', { rideId, seq: 2 });
      expect(job?.data).to.deep.equal({ rideId, keyId: ride.keyId, seq: 2 });
    });
  });

  describe('an event that names the next ride', () => {
    /** A ride with two events and a third one, of its driver's cancellation. The next ride does not exist yet. */
    async function cancelledRide(): Promise<string> {
      const rideId = await rideWithEvents(ctx, await newKey(ctx, receiver.url), 2, { onDriverCancel: 'rebid' });
      await applyAction(ctx, rideId, { action: 'cancel', by: 'driver' }, 'anyone');
      return rideId;
    }
    const jobOf = (rideId: string, seq: number) => jobFor(ctx, 'webhooks', { rideId, seq });

    it('it waits in both lanes until that ride exists; the events before it do not wait', async () => {
      const rideId = await cancelledRide();
      for (const seq of [1, 2]) expect(await deliver(ctx, rideId, seq)).to.include({ result: 'delivered' });
      for (const pool of ['webhooks', 'webhooks-slow'] as const) {
        const waits = { why: 'the next ride does not exist yet' };
        expect(await deliver(ctx, rideId, 3, { pool }))
          .to.include(waits)
          .and.have.property('againInMs')
          .that.is.least(100);
      }
      expect(receiver.receipts).to.have.length(2);
      await bringSuccessor(ctx, rideId);
      expect(await deliver(ctx, rideId, 3)).to.include({ result: 'delivered' });
      const { replacedBy } = await storedRide(rideId);
      expect(replacedBy).to.be.a('string').and.equal(receiver.receipts[2]?.body.replacedBy);
    });

    it('its job is added once that ride exists', async () => {
      const rideId = await cancelledRide();
      for (const seq of [1, 2]) await deliver(ctx, rideId, seq);
      await (await jobOf(rideId, 3))?.remove();
      await bringSuccessor(ctx, rideId);
      expect((await jobOf(rideId, 3))?.opts.delay).to.equal(0);
    });

    it('the sweeper adds its job only once that ride exists', async () => {
      const rideId = await cancelledRide();
      for (const seq of [1, 2]) await deliver(ctx, rideId, seq);
      for (const isThere of [false, true]) {
        await ctx.redis.flushall();
        await sweep(ctx, { everything: true });
        expect((await jobOf(rideId, 3)) !== undefined).to.equal(isThere);
        await bringSuccessor(ctx, rideId);
      }
    });
  });

  describe('destination', () => {
    it("the ride's own URL overrides the key's URL, and the key's secret signs the event", async () => {
      const other = await startReceiver();
      const both = withTargets(ctx, receiver.origin, other.origin);
      const key = await newKey(both, other.url);
      const rideId = await rideWithEvents(both, key, 1, { webhookUrl: `${receiver.origin}/mine` });
      await deliver(both, rideId, 1);
      await other.close();
      expect(other.receipts).to.have.length(0);
      expect(isSignedWith(key.signingSecret, receiver.receipts[0])).to.equal(true);
      expect(await logged(rideId)).to.include({ url: `${receiver.origin}/mine` });
    });

    it("an event is sent to the key's current URL, not to the URL at the time of the event", async () => {
      const key = await newKey(ctx);
      const rideId = await rideWithEvents(ctx, key, 1);
      await keys.updateOne({ _id: key.keyId }, { $set: { webhookUrl: receiver.url } });
      expect(await deliver(ctx, rideId, 1)).to.include({ result: 'delivered' });
    });

    it('the events of a revoked key are still delivered', async () => {
      const key = await newKey(ctx, receiver.url);
      const rideId = await rideWithEvents(ctx, key, 1);
      await revokeKey(key.keyId, 'anyone');
      expect(await deliver(ctx, rideId, 1)).to.include({ result: 'delivered' });
      expect(receiver.receipts).to.have.length(1);
    });
  });
});
