import { expect } from 'chai';
import type { TestScenario } from '../../shared/rides/ride-types.ts';
import { fireTimer } from '../support/fire-timer.ts';
import { usePartner, useTestApi } from '../support/service.ts';
import { makeDue, statusesSent, storedRide } from '../support/stored-rides.ts';

const steps = ['offer', 'withdraw', 'arrive', 'start', 'complete', 'cancel', 'expire'];

describe('manual steps of a test ride', () => {
  const api = useTestApi();
  const partner = usePartner(api, 'test');

  async function newRideUnder(scenario: TestScenario): Promise<string> {
    return (await partner.createRide({ fare: 25 }, { 'x-service-test-scenario': scenario })).body.rideId;
  }
  const step = (rideId: string, name: string, body?: unknown) => partner.post(`/test/rides/${rideId}/${name}`, body);
  const timersOf = async (rideId: string) => (await storedRide(rideId)).timers.map(({ name }) => name).sort();

  async function acceptedRideUnder(scenario: TestScenario): Promise<string> {
    const rideId = await newRideUnder(scenario);
    const { offerId } = (await step(rideId, 'offer')).body;
    expect((await partner.post(`/rides/${rideId}/accept`, { offerId })).status).to.equal(200);
    return rideId;
  }

  it('manual steps run a test ride from offer to completed, with one event each and no automatic steps', async () => {
    const rideId = await acceptedRideUnder('no_offers');
    for (const [name, status] of [
      ['arrive', 'arrived'],
      ['start', 'in_progress'],
      ['complete', 'completed'],
    ] as const) {
      expect(await timersOf(rideId)).to.deep.equal(['stall']);
      const answer = await step(rideId, name);
      expect(answer.status).to.equal(200);
      expect(answer.body).to.deep.equal({ success: true, rideId, status });
    }
    const ride = await storedRide(rideId);
    const sent = ['offer.received', 'driver_arriving', 'arrived', 'in_progress', 'completed'];
    expect(statusesSent(ride)).to.deep.equal(sent);
    expect(ride).to.have.property('leg');
    expect(ride.timers).to.deep.equal([]);
  });

  it('manual offers can have any price and ETA, each have their own driver, and can be withdrawn', async () => {
    const rideId = await newRideUnder('no_offers');
    const first = await step(rideId, 'offer', { price: 31.5, etaMinutes: 9 });
    expect(first.body).to.deep.equal({ success: true, rideId, status: 'bidding', offerId: first.body.offerId });
    for (let more = 0; more < 4; more++) expect((await step(rideId, 'offer', {})).status).to.equal(200);
    const { offers } = (await partner.get(`/rides/${rideId}/offers`)).body;
    expect(new Set(offers.map((offer: { driver: { plate: string } }) => offer.driver.plate)).size).to.equal(5);
    expect(offers.at(-1)).to.deep.include({ offerId: first.body.offerId, price: 31.5, etaMinutes: 9 });
    expect(offers.slice(0, 4).map(({ price }: { price: number }) => price)).to.deep.equal([25, 25, 25, 25]);
    expect((await step(rideId, 'withdraw', { offerId: first.body.offerId })).status).to.equal(200);
    expect((await partner.get(`/rides/${rideId}/offers`)).body.offers).to.have.length(4);
    expect((await step(rideId, 'withdraw', { offerId: first.body.offerId })).status).to.equal(409);
    expect((await step(rideId, 'withdraw', { offerId: 'offer_none' })).status).to.equal(404);
  });

  it('a manual cancel by the driver answers 409 while the ride is bidding, and later cancels the ride', async () => {
    const bidding = await newRideUnder('no_offers');
    expect((await step(bidding, 'cancel')).status).to.equal(409);
    const rideId = await acceptedRideUnder('no_offers');
    expect((await step(rideId, 'cancel')).body.status).to.equal('cancelled');
    expect((await partner.get(`/rides/${rideId}`)).body.cancelledBy).to.equal('driver');
  });

  it('a manual expire cancels a ride by timeout at any time before its end', async () => {
    const rides = [await newRideUnder('no_offers'), await acceptedRideUnder('no_offers')];
    for (const rideId of rides) {
      expect((await step(rideId, 'expire')).body.status).to.equal('cancelled');
      expect((await partner.get(`/rides/${rideId}`)).body.cancelledBy).to.equal('timeout');
      expect((await step(rideId, 'expire')).status).to.equal(409);
    }
  });

  it('a manual step that needs a body answers 400 without one, and lists ignored fields', async () => {
    const rideId = await newRideUnder('no_offers');
    for (const sent of [undefined, {}, { offerId: 5 }])
      expect((await step(rideId, 'withdraw', sent)).status).to.equal(400);
    const { status, headers } = await step(rideId, 'offer', { price: 5, driver: 'x' });
    expect([status, headers.get('x-service-ignored-fields')]).to.deep.equal([200, 'driver']);
  });

  it('manual steps need the test key of the ride: a live key gets 403, another test key 404', async () => {
    const rideId = await newRideUnder('no_offers');
    const [live, other] = [await api.partner('live'), await api.partner('test')];
    const liveRide = (await live.createRide()).body.rideId;
    for (const name of steps) {
      const body = { offerId: 'offer_none' };
      for (const id of [rideId, liveRide, 'ride_none']) {
        const refused = await live.post(`/test/rides/${id}/${name}`, body);
        expect([refused.status, refused.body.error]).to.deep.equal([
          403,
          'Only rides of a test key can be stepped by hand: real drivers drive those of a live key',
        ]);
      }
      const texts = [];
      for (const id of [rideId, liveRide, 'ride_none']) {
        const hidden = await other.post(`/test/rides/${id}/${name}`, body);
        expect(hidden.status, name).to.equal(404);
        texts.push(hidden.text);
      }
      expect(new Set(texts).size).to.equal(1);
    }
    expect((await storedRide(rideId)).rev).to.equal(0);
  });

  it("the event of a manual step records the partner and the request's id", async () => {
    const rideId = await newRideUnder('no_offers');
    const { headers } = await step(rideId, 'offer');
    const [event] = (await storedRide(rideId)).events;
    expect(event).to.include({ by: 'partner', requestId: headers.get('x-request-id') });
  });

  const due = async (rideId: string, name: Parameters<typeof fireTimer>[2]) => {
    await makeDue(rideId, name);
    return fireTimer(api.ctx, rideId, name);
  };

  it('after a manual step, the scenario continues with the step that follows it', async () => {
    const rideId = await newRideUnder('default');
    expect(await timersOf(rideId)).to.deep.equal(['expire', 'offer']);
    await step(rideId, 'offer');
    expect(await timersOf(rideId)).to.deep.equal(['accept', 'expire']);
    expect(await fireTimer(api.ctx, rideId, 'offer')).to.deep.equal({ result: 'stale' });
    expect((await storedRide(rideId)).offers).to.have.length(1);
    await due(rideId, 'accept');
    await step(rideId, 'arrive');
    expect(await fireTimer(api.ctx, rideId, 'arrive')).to.deep.equal({ result: 'stale' });
    expect(await timersOf(rideId)).to.deep.equal(['stall', 'start']);
    await due(rideId, 'start');
    await due(rideId, 'complete');
    const sent = ['offer.received', 'driver_arriving', 'arrived', 'in_progress', 'completed'];
    expect(statusesSent(await storedRide(rideId))).to.deep.equal(sent);
  });

  it('after many manual offers and a withdrawal, each step of the scenario is planned only once', async () => {
    const rideId = await newRideUnder('three_offers');
    const { offerId } = (await step(rideId, 'offer')).body;
    await step(rideId, 'withdraw', { offerId });
    for (let count = 0; count < 6; count++) await step(rideId, 'offer');
    const timers = await timersOf(rideId);
    expect(timers)
      .to.deep.equal([...new Set(timers)])
      .and.to.include('accept');
    for (const name of timers) if (name !== 'expire' && name !== 'accept') await due(rideId, name);
    expect((await storedRide(rideId)).offers).to.have.length(7);
    await due(rideId, 'accept');
    const ride = await storedRide(rideId);
    expect(ride).to.include({ status: 'driver_arriving', agreedPrice: 25 });
  });

  it('if every offer is withdrawn, the scenario accepts none and the ride stays bidding', async () => {
    const rideId = await newRideUnder('default');
    const { offerId } = (await step(rideId, 'offer')).body;
    await step(rideId, 'withdraw', { offerId });
    expect(await due(rideId, 'accept')).to.include({ result: 'done', status: 'bidding' });
    expect(await timersOf(rideId)).to.deep.equal(['expire']);
    await step(rideId, 'offer');
    expect(await timersOf(rideId)).to.deep.equal(['accept', 'expire']);
  });

  it('a ride with the scenario "stalls" waits again after each manual step', async () => {
    const rideId = await acceptedRideUnder('stalls');
    for (const name of ['arrive', 'start']) {
      expect(await timersOf(rideId)).to.deep.equal(['stall']);
      expect((await step(rideId, name)).status).to.equal(200);
    }
    expect(await timersOf(rideId)).to.deep.equal(['stall']);
  });

  it('a manual offer and a concurrent offer of the scenario never come from the same driver', async () => {
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        const rideId = await newRideUnder('no_auto_accept');
        await makeDue(rideId, 'offer');
        await Promise.all([step(rideId, 'offer'), fireTimer(api.ctx, rideId, 'offer')]);
        const { offers, timers } = await storedRide(rideId);
        expect(timers.map(({ name }) => name)).to.deep.equal(['expire']);
        // If the manual step comes second, its offer is from a second driver.
        expect(offers.length).to.be.within(1, 2);
        expect(new Set(offers.map(({ driver }) => driver.driverId)).size).to.equal(offers.length);
      }),
    );
  });
});
