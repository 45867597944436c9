import { expect } from 'chai';
import mongoose from 'mongoose';
import { connectSubscriberRedis } from '../../shared/base/redis/redis.ts';
import { subscribeToRideChanges } from '../../shared/base/wake.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { rides } from '../../shared/rides/ride.ts';
import { onceInsteadOf } from '../support/failing-mongo.ts';
import { newDriver, rideIn } from '../support/rides.ts';
import { usePartner, useTestApi } from '../support/service.ts';
import { jobFor } from '../support/stored-rides.ts';
import { until } from '../support/until.ts';

const unknownOffer = 'offer_0000000000000000';

describe('POST /rides/:rideId/accept', () => {
  const api = useTestApi();
  const partner = usePartner(api, 'live');

  const statusOf = async (rideId: string) => (await rides.findOne({ _id: rideId }))?.status;
  const eventsOf = async (rideId: string) => (await rides.findOne({ _id: rideId }))?.events.map(({ event }) => event);
  const endBidding = (rideId: string) =>
    rides.updateOne({ _id: rideId }, { $set: { biddingEndsAt: new Date(Date.now() - 1) } });

  for (const mode of ['live', 'test'] as const) {
    it(`accept answers 200 with exactly success, rideId and status driver_arriving for a ${mode} ride`, async () => {
      const partner = await api.partner(mode);
      const { rideId, offer } = await rideIn(api.ctx, 'bidding', { by: partner });
      const { status, body } = await partner.post(`/rides/${rideId}/accept`, { offerId: offer.offerId });
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ success: true, rideId, status: 'driver_arriving' });
      expect(await eventsOf(rideId)).to.deep.equal(['offer.received', 'ride.status']);
    });
  }

  it('accept ignores unknown fields of the body', async () => {
    const { rideId, offer } = await rideIn(api.ctx, 'bidding', { by: partner });
    const body = { offerId: offer.offerId, price: 1, status: 'completed', agreedPrice: 1 };
    const accepted = await partner.post(`/rides/${rideId}/accept`, body);
    expect(accepted.status).to.equal(200);
    const ride = await partner.get(`/rides/${rideId}`);
    expect(ride.body).to.include({ agreedPrice: 20, status: 'driver_arriving' });
  });

  for (const status of ['driver_arriving', 'arrived', 'in_progress'] as const) {
    it(`accepting the accepted offer again answers 200 with the status ${status} and changes nothing, also after the bidding time`, async () => {
      const { rideId, offer } = await rideIn(api.ctx, status, { by: partner });
      await endBidding(rideId);
      const before = await rides.findOne({ _id: rideId });
      const again = await partner.post(`/rides/${rideId}/accept`, { offerId: offer.offerId });
      expect(again.status).to.equal(200);
      expect(again.body).to.deep.equal({ success: true, rideId, status });
      expect(await rides.findOne({ _id: rideId })).to.deep.equal(before);
    });
  }

  it('a repeated accept adds the jobs and wakes the listeners if the answer to the first accept was lost', async () => {
    const partner = await api.partner('test');
    const { rideId, offer } = await rideIn(api.ctx, 'bidding', { by: partner, offers: [{ driver: newDriver() }] });
    const accept = () => partner.post(`/rides/${rideId}/accept`, { offerId: offer.offerId });
    loseNextAnswer();
    expect((await accept()).status).to.equal(503);
    for (const [pool, id] of [
      ['simulator', { rideId, timer: 'arrive' }],
      ['webhooks', { rideId, seq: 1 }],
    ] as const) {
      await (await jobFor(api.ctx, pool, id))?.remove();
    }
    let isWoken = false;
    const wake = subscribeToRideChanges(connectSubscriberRedis(api.ctx.config.secrets.redisUrl, api.ctx.log));
    wake.onRideChange((changed) => {
      isWoken ||= changed === rideId;
    });
    // Repeats the accept, because the subscription may not have reached Redis before the first one.
    await until(async () => (await accept()).status === 200 && isWoken);
    wake.close();
    expect(await jobFor(api.ctx, 'simulator', { rideId, timer: 'arrive' })).to.not.equal(undefined);
    expect(await jobFor(api.ctx, 'webhooks', { rideId, seq: 1 })).to.not.equal(undefined);
    expect(await eventsOf(rideId)).to.deep.equal(['offer.received', 'ride.status']);
  });

  /** MongoDB executes the next update of a ride, but its reply is lost. */
  function loseNextAnswer(): void {
    const updateOne = rides.updateOne.bind(rides) as (...args: unknown[]) => Promise<unknown>;
    onceInsteadOf(rides, 'updateOne', async (...args) => {
      await updateOne(...args);
      throw new mongoose.mongo.MongoNetworkError('the reply is lost');
    });
  }

  it('accept answers 404 for an unknown offerId of any form, and for an offer of another ride', async () => {
    const { rideId } = await rideIn(api.ctx, 'bidding', { by: partner });
    const { offerId: foreign } = await rideIn(api.ctx, 'bidding', { by: partner });
    const long = 'o'.repeat(101);
    for (const offerId of [unknownOffer, foreign, 'x', '__proto__', '$ne', '\u0000', long, '🚕', '\ud800']) {
      const { status } = await partner.post(`/rides/${rideId}/accept`, { offerId });
      expect(status, offerId).to.equal(404);
    }
    expect(await statusOf(rideId)).to.equal('bidding');
  });

  it('accept checks the body (400) before the ride (404)', async () => {
    const { status } = await partner.post('/rides/ride_unknown/accept', {});
    expect(status).to.equal(400);
  });

  it('accept checks the offer, the status, the bidding time and the withdrawal, and changes nothing', async () => {
    const { rideId, offer } = await rideIn(api.ctx, 'bidding', { by: partner });
    const refusal = async (offerId = offer.offerId) => {
      const before = await rides.findOne({ _id: rideId });
      const { status, headers } = await partner.post(`/rides/${rideId}/accept`, { offerId });
      expect(await rides.findOne({ _id: rideId })).to.deep.equal(before);
      return `${status} ${headers.get('x-service-error')}`;
    };
    await applyAction(api.ctx, rideId, { action: 'withdrawOffer', offerId: offer.offerId }, 'anyone');
    expect(await refusal()).to.equal('409 offer_withdrawn');
    await endBidding(rideId);
    expect(await refusal()).to.equal('409 bidding_over');
    expect(await refusal(unknownOffer)).to.equal('404 offer_not_found');
    await applyAction(api.ctx, rideId, { action: 'cancel', by: 'timeout' }, 'anyone');
    expect(await refusal()).to.equal('409 ride_not_bidding');
    expect(await refusal(unknownOffer)).to.equal('404 offer_not_found');
  });
});
