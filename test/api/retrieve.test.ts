import { expect } from 'chai';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { rides } from '../../shared/rides/ride.ts';
import { rideStatuses } from '../../shared/rides/ride-types.ts';
import { isMoving } from '../../shared/rides/transitions.ts';
import { validRide } from '../support/client.ts';
import { newDriver, rideIn } from '../support/rides.ts';
import { usePartner, useTestApi } from '../support/service.ts';
import { storedRide } from '../support/stored-rides.ts';

describe('GET /rides/:rideId', () => {
  const api = useTestApi();
  const partner = usePartner(api, 'live');
  const tester = usePartner(api, 'test');

  it('retrieve shows a bidding ride with exactly its fields, without driver and liveLocation', async () => {
    const { rideId, trackUrl } = await rideIn(api.ctx, 'bidding', { by: partner, passengerCount: 3, notes: 'n' });
    const { status, body, headers } = await partner.get(`/rides/${rideId}`);
    const { createdAt, biddingEndsAt, statusAt, steps } = body;
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(body).to.deep.equal({
      rideId,
      status: 'bidding',
      fare: 25,
      carType: 'regular',
      passengerCount: 3,
      distanceKm: 5.31,
      offersCount: 1,
      driversAsked: 0,
      pickup: validRide.pickup,
      destination: validRide.destination,
      trackUrl,
      ...{ createdAt, biddingEndsAt, statusAt, steps },
    });
  });

  for (const status of ['driver_arriving', 'completed'] as const) {
    it(`retrieve shows driver, agreedPrice and the partner's fare of a ride in status ${status}`, async () => {
      const driver = newDriver({ name: 'Ann', phone: '+1', rating: 4.5, vehicle: 'V', plate: 'P' });
      const { rideId } = await rideIn(api.ctx, status, { by: partner, offers: [{ driver, price: 31.5 }] });
      const { body } = await partner.get(`/rides/${rideId}`);
      expect(body).to.include({ status, fare: 25, agreedPrice: 31.5, offersCount: 1 });
      expect(body.driver).to.deep.equal({ name: 'Ann', phone: '+1', rating: 4.5, vehicle: 'V', plate: 'P' });
      expect(body).not.to.have.any.keys('cancelledBy', 'testMode');
    });
  }

  it('retrieve shows liveLocation of a test ride while its car is moving or waits, and never otherwise', async () => {
    for (const status of rideStatuses) {
      const { rideId } = await rideIn(api.ctx, status, { by: tester });
      const { body } = await tester.get(`/rides/${rideId}`);
      expect(body).to.include({ status, testMode: true });
      if (!isMoving(status)) expect(body).not.to.have.property('liveLocation');
      else {
        const { lat, lng, heading, at, ...more } = body.liveLocation;
        expect(more).to.deep.equal({ status });
        expect(lat).to.be.within(40.6, 40.8);
        expect(lng).to.be.within(-74.1, -73.9);
        expect(heading).to.be.within(0, 360);
        expect(at).to.be.a('number');
      }
    }
  });

  it('liveLocation of an arrived test ride is the pickup, with the last heading', async () => {
    const { rideId } = await rideIn(api.ctx, 'driver_arriving', { by: tester });
    const before = await tester.get(`/rides/${rideId}`);
    await applyAction(api.ctx, rideId, { action: 'arrive' }, 'anyone');
    const { body } = await tester.get(`/rides/${rideId}`);
    const { lat, lng } = validRide.pickup;
    const { heading, at } = body.liveLocation;
    expect(body.liveLocation).to.deep.equal({ lat, lng, heading, status: 'arrived', at });
    expect(at).to.be.above(before.body.liveLocation.at);
    const turned = Math.abs(heading - before.body.liveLocation.heading);
    expect(Math.min(turned, 360 - turned)).to.be.at.most(0.11);
  });

  it('HEAD of a ride answers like GET, without the body', async () => {
    const { rideId } = await rideIn(api.ctx, 'bidding', { by: partner });
    const headers = { 'x-api-key': partner.key };
    const response = await fetch(`${api.url}/v1/rides/${rideId}`, { method: 'HEAD', headers });
    expect(response.status).to.equal(200);
    expect(await response.text()).to.equal('');
  });

  it('a cancelled ride shows cancelledBy, and keeps its driver if it had one', async () => {
    const cancelledBy = async (status: 'bidding' | 'arrived', by: 'partner' | 'driver' | 'timeout') => {
      const { rideId } = await rideIn(api.ctx, status, { by: partner });
      await applyAction(api.ctx, rideId, { action: 'cancel', by }, 'anyone');
      return (await partner.get(`/rides/${rideId}`)).body;
    };
    expect(await cancelledBy('bidding', 'timeout'))
      .to.include({ cancelledBy: 'timeout', cancelReason: 'no_offers' })
      .and.not.have.property('driver');
    expect(await cancelledBy('arrived', 'partner'))
      .to.include({ cancelledBy: 'partner', cancelReason: 'partner' })
      .and.have.property('driver');
    const byDriver = await cancelledBy('arrived', 'driver');
    expect(byDriver).to.include({ cancelledBy: 'driver', status: 'cancelled' }).and.have.property('driver');
  });

  it('retrieve shows the creation, the end of bidding and one step for each status, with the times of the events', async () => {
    const { rideId } = await rideIn(api.ctx, 'completed', { by: partner });
    const { createdAt, biddingEndsAt, statusAt, events } = await storedRide(rideId);
    const { body } = await partner.get(`/rides/${rideId}`);
    expect(body.createdAt).to.equal(createdAt.getTime());
    expect(body.biddingEndsAt).to.equal(biddingEndsAt.getTime());
    expect(body.statusAt).to.equal(statusAt.getTime());
    const changes = events.filter(({ event }) => event === 'ride.status').map((event) => JSON.parse(event.body));
    expect(body.steps).to.deep.equal([
      { status: 'bidding', at: createdAt.getTime() },
      ...changes.map(({ status, at }) => ({ status, at })),
    ]);
    expect(body.steps.at(-1)).to.deep.equal({ status: 'completed', at: body.statusAt });
  });

  it('a new ride has one step, which began with the creation', async () => {
    const { rideId } = (await partner.createRide()).body;
    const { body } = await partner.get(`/rides/${rideId}`);
    expect(body.steps).to.deep.equal([{ status: 'bidding', at: body.createdAt }]);
    expect(body.statusAt).to.equal(body.createdAt);
    expect(body.biddingEndsAt).to.equal(body.createdAt + api.ctx.config.biddingTimeoutMs);
  });

  for (const status of ['bidding', 'in_progress'] as const) {
    it(`the last step of a ride that was cancelled while ${status} is cancelled`, async () => {
      const { rideId } = await rideIn(api.ctx, status, { by: partner });
      const before = (await partner.get(`/rides/${rideId}`)).body.steps;
      await applyAction(api.ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone');
      const { body } = await partner.get(`/rides/${rideId}`);
      expect(before.at(-1)).to.include({ status });
      expect(body.steps).to.deep.equal([...before, { status: 'cancelled', at: body.statusAt }]);
    });
  }

  it('a step has the time of its event while the feed dates it later', async () => {
    const { rideId } = await rideIn(api.ctx, 'driver_arriving', { by: partner });
    const { events } = await storedRide(rideId);
    const last = events.length - 1;
    const at = events[last]?.at as Date;
    const moved = { [`events.${last}.clockAt`]: at, [`events.${last}.at`]: new Date(at.getTime() + 60_000) };
    await rides.updateOne({ _id: rideId }, { $set: moved });
    const { body } = await partner.get(`/rides/${rideId}`);
    expect(body.steps.at(-1)).to.deep.equal({ status: 'driver_arriving', at: at.getTime() });
  });
});
