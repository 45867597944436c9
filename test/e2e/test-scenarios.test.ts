import { expect } from 'chai';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { runBiddingTimer } from '../../workers/bidding.ts';
import { isSignedWith } from '../support/deliveries.ts';
import { type Receipt, useReceiver } from '../support/receiver.ts';
import { makeDue, storedRide } from '../support/stored-rides.ts';
import { until } from '../support/until.ts';
import { useTestService } from '../support/workers.ts';

const wholeTrip = ['offer.received', 'driver_arriving', 'arrived', 'in_progress', 'completed'];
const sent = (receipts: Receipt[]) => receipts.map(({ body }) => body.status ?? body.event);
const timerNames = (ride: Ride) => ride.timers.map(({ name }) => name);

/** Starts a service with a receiver. Returns a function that creates a ride with a new key. */
function withService() {
  const receiver = useReceiver();
  const service = useTestService(() => ({
    SIMULATION_SPEED: '50',
    WEBHOOK_LOCAL_TARGETS: receiver.origin,
  }));

  return async function play(scenario: string, fields: object = {}) {
    const partner = await service.partner('test', receiver.url);
    const { status, body } = await partner.createRide(
      { fare: 25, ...fields },
      scenario ? { 'X-Service-Test-Scenario': scenario } : {},
    );
    expect(status).to.equal(201);
    const rideId: string = body.rideId;
    const ofThisRide = () => receiver.receipts.filter((receipt) => receipt.body.rideId === rideId);
    return {
      rideId,
      partner,
      service,
      /** Resolves with all received events of the ride, once there are at least `count`. */
      async received(count: number) {
        while (ofThisRide().length < count) await receiver.received(receiver.receipts.length + 1);
        return ofThisRide();
      },
      ofThisRide,
      async becomes(isReached: (ride: Ride) => boolean) {
        await until(async () => isReached(await storedRide(rideId)));
        return storedRide(rideId);
      },
    };
  };
}

describe('test scenarios', () => {
  const play = withService();

  for (const scenario of ['default', '']) {
    it(`${scenario || 'no header'}: the ride gets one offer at the fare, and completes`, async () => {
      const ride = await play(scenario);
      const receipts = await ride.received(5);
      expect(sent(receipts)).to.deep.equal(wholeTrip);
      for (const receipt of receipts) expect(isSignedWith(ride.partner.signingSecret, receipt)).to.equal(true);
      expect(receipts[0]?.body.offer.price).to.equal(25);
      const { body } = await ride.partner.get(`/rides/${ride.rideId}`);
      expect(body).to.include({ status: 'completed', offersCount: 1, agreedPrice: 25, testMode: true });
      expect(timerNames(await storedRide(ride.rideId))).to.deep.equal([]);
    });
  }

  it('three_offers: the offers differ in price and ETA, and the cheapest one is accepted', async () => {
    const ride = await play('three_offers');
    const receipts = await ride.received(7);
    expect(sent(receipts)).to.deep.equal(['offer.received', 'offer.received', ...wholeTrip]);
    const offers = receipts.slice(0, 3).map(({ body }) => body.offer);
    for (const field of ['offerId', 'price', 'etaMinutes']) {
      expect(new Set(offers.map((offer) => offer[field]))).to.have.property('size', 3);
    }
    expect(new Set(offers.map(({ driver }) => driver.plate))).to.have.property('size', 3);
    const [cheapest] = offers.sort((a, b) => a.price - b.price);
    const { body } = await ride.partner.get(`/rides/${ride.rideId}/offers`);
    expect(body.offers).to.deep.equal([cheapest]);
    expect((await ride.partner.get(`/rides/${ride.rideId}`)).body).to.include({
      offersCount: 3,
      agreedPrice: cheapest.price,
    });
  });

  it('no_auto_accept: the service accepts an offer that matches autoAccept, and the ride completes', async () => {
    const ride = await play('no_auto_accept', { autoAccept: { maxPrice: 25, maxEtaMinutes: 4 } });
    expect(sent(await ride.received(5))).to.deep.equal(wholeTrip);
    expect((await storedRide(ride.rideId)).events[1]?.by).to.equal('auto_accept');
  });

  it('offer_withdrawn: the offer is withdrawn, the ride stays bidding, and accepting the offer is a 409', async () => {
    const ride = await play('offer_withdrawn');
    const stored = await ride.becomes(({ offers }) => offers[0]?.withdrawnAt !== undefined);
    expect(timerNames(stored)).to.deep.equal(['expire']);
    const offerId = stored.offers[0]?.offerId;
    expect((await ride.partner.get(`/rides/${ride.rideId}/offers`)).body.offers).to.deep.equal([]);
    expect((await ride.partner.post(`/rides/${ride.rideId}/accept`, { offerId })).status).to.equal(409);
    expect((await ride.partner.get(`/rides/${ride.rideId}`)).body).to.include({ status: 'bidding', offersCount: 1 });
    await ride.partner.post(`/rides/${ride.rideId}/cancel`);
    expect(sent(await ride.received(2))).to.deep.equal(['offer.received', 'cancelled']);
  });

  it('driver_cancels: the driver cancels after `arrived`, and the event still has the driver', async () => {
    const ride = await play('driver_cancels');
    const receipts = await ride.received(4);
    expect(sent(receipts)).to.deep.equal(['offer.received', 'driver_arriving', 'arrived', 'cancelled']);
    expect(receipts[3]?.body).to.deep.include({ cancelledBy: 'driver', driver: receipts[1]?.body.driver });
    const { body } = await ride.partner.get(`/rides/${ride.rideId}`);
    expect(body).to.include({ status: 'cancelled', cancelledBy: 'driver' }).and.to.have.property('driver');
    expect(timerNames(await storedRide(ride.rideId))).to.deep.equal([]);
  });

  it('duplicate_event: the second event arrives twice with the same body and id, and the others once, in order', async () => {
    const ride = await play('duplicate_event');
    const receipts = await ride.received(6);
    expect(sent(receipts)).to.deep.equal(['offer.received', 'driver_arriving', ...wholeTrip.slice(1)]);
    const [first, second] = receipts.slice(1);
    expect(second?.raw).to.equal(first?.raw);
    for (const name of ['x-service-event-id', 'x-service-sequence']) {
      expect(second?.headers[name]).to.equal(first?.headers[name]);
    }
    expect(second?.headers).not.to.have.property('x-service-redelivery');
    for (const receipt of receipts) expect(isSignedWith(ride.partner.signingSecret, receipt)).to.equal(true);
    const { events } = await ride.becomes(({ unsettled, seq }) => unsettled === 0 && seq === 5);
    expect(events.map(({ delivery }) => delivery?.outcome)).to.deep.equal(Array(5).fill('delivered'));
    expect(ride.ofThisRide()).to.have.length(6);
  });

  it('no_offers: at the end of the bidding time, the ride is cancelled by timeout, with one event', async () => {
    const { rideId, partner, service, received } = await play('no_offers');
    await makeDue(rideId, 'expire');
    const run = { pool: 'bidding', token: 'test', stopping: new AbortController().signal } as const;
    expect(await runBiddingTimer(service.ctx, { rideId, timer: 'expire' }, run)).to.include({ result: 'done' });
    const cancelled = { status: 'cancelled', cancelledBy: 'timeout', testMode: true };
    expect((await received(1))[0]?.body).to.deep.include({ ...cancelled, driver: null });
    expect((await partner.get(`/rides/${rideId}`)).body).to.include({ ...cancelled, offersCount: 0 });
    expect(await storedRide(rideId)).to.include({ seq: 1 });
  });

  it('jobs contain only ids and timer names', async () => {
    const passenger = { name: 'Canary', phone: '+12025559999' };
    const { service, received } = await play('no_auto_accept', { passenger, notes: 'Canary' });
    await received(1);
    const names = new Set<string>();
    for (const queue of Object.values(service.ctx.queues)) {
      for (const { data } of await queue.getJobs(['waiting', 'delayed', 'active', 'completed'])) {
        for (const name of Object.keys(data)) names.add(name);
      }
    }
    expect([...names]).to.have.members(['rideId', 'timer', 'keyId', 'seq']);
  });
});
