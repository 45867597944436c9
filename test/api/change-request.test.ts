import { expect } from 'chai';
import { positions } from '../../shared/drivers/positions.ts';
import { useDriverRides } from '../support/driver-rides.ts';
import { dispatchedRide, newGatewayDriver, runDispatch, somewhere } from '../support/drivers.ts';
import { nextOf } from '../support/event-stream.ts';
import { offerOn, rideIn } from '../support/rides.ts';
import { endBidding, storedRide } from '../support/stored-rides.ts';

describe('changing a ride and raising its fare', () => {
  const { api, partner, chosenDriver } = useDriverRides();

  const change = (rideId: string, terms: object | string) => partner.send('PATCH', `/rides/${rideId}`, terms);
  const inHours = (hours: number) => Math.round(api.ctx.now()) + hours * 3_600_000;

  const always = {
    notes: 'side entrance',
    passenger: { name: 'Ann', phone: '+12025550143' },
    reference: 'room-7',
    metadata: { desk: 'spa' },
    webhookUrl: 'https://hooks.example/x',
    floor: 3,
  };
  const trip = {
    destination: { lat: 40.7, lng: -74, address: 'Pier 11' },
    passengerCount: 3,
    needs: ['pet'],
    pickupAt: 0,
  };

  for (const status of ['bidding', 'driver_arriving', 'arrived', 'in_progress'] as const) {
    it(`a ride that is ${status} takes new values, sends no event, and a repeat changes nothing`, async () => {
      const { rideId } = await rideIn(api.ctx, status, { by: partner });
      const before = await storedRide(rideId);
      const { status: code, body } = await change(rideId, always);
      expect([code, body]).to.deep.equal([200, { success: true, rideId, status }]);
      const after = await storedRide(rideId);
      expect(after).to.deep.include({ ...always, seq: before.seq, rev: before.rev + 1, timers: before.timers });
      expect(after.searchTerms).to.include.members(['ann', 'room7']);
      expect(after.changes).to.have.length(1);
      expect(after.changes?.[0]?.by).to.equal('partner');
      expect(after.changes?.[0]?.fields).to.have.members(Object.keys(always));
      expect((await change(rideId, always)).status).to.equal(200);
      expect(await storedRide(rideId)).to.deep.equal(after);
    });
  }

  for (const name of ['destination', 'passengerCount', 'needs', 'pickupAt'] as const) {
    const terms = () => ({ [name]: name === 'pickupAt' ? inHours(2) : trip[name] });

    it(`${name} changes while the ride is bidding, and not after it or after the deadline`, async () => {
      const { rideId } = await rideIn(api.ctx, 'bidding', { by: partner });
      expect((await change(rideId, terms())).status).to.equal(200);
      const { rideId: moving } = await rideIn(api.ctx, 'in_progress', { by: partner });
      expect((await change(moving, { ...terms(), notes: 'x' })).headers.get('x-service-error')).to.equal(
        'ride_not_bidding',
      );
      expect(await storedRide(moving)).not.to.have.property('notes');
      const { rideId: over } = await rideIn(api.ctx, 'bidding', { by: partner });
      await endBidding(over);
      expect((await change(over, terms())).headers.get('x-service-error')).to.equal('bidding_over');
      expect((await change(over, { notes: 'x' })).status).to.equal(200);
    });
  }

  it('a new destination changes the distance, and the list shows the new values', async () => {
    const { body } = await partner.createRide({ distanceKm: 99 });
    await change(body.rideId, { destination: { lat: 40.7128, lng: -74.0 } });
    const { body: ride } = await partner.get(`/rides/${body.rideId}`);
    expect(ride.distanceKm).to.equal(0.51);
    expect(ride.destination).to.deep.equal({ lat: 40.7128, lng: -74 });
  });

  it('an empty text and empty needs remove the field, also when they are sent again', async () => {
    const { reference, notes, webhookUrl } = always;
    const { body } = await partner.createRide({ reference, notes, webhookUrl, needs: ['pet'] });
    const none = { reference: '', notes: '', webhookUrl: '', needs: [] };
    expect((await change(body.rideId, none)).status).to.equal(200);
    const after = await storedRide(body.rideId);
    expect(after).not.to.have.any.keys(...Object.keys(none));
    expect(after.searchTerms).not.to.include('room7');
    expect((await change(body.rideId, none)).status).to.equal(200);
    expect(await storedRide(body.rideId)).to.deep.equal(after);
  });

  it('a repeat of the creation shows the values of the creation', async () => {
    const under = { 'idempotency-key': 'changed' };
    const first = await partner.createRide({ needs: ['pet'] }, under);
    await change(first.body.rideId, { ...trip, pickupAt: inHours(3), reference: 'new' });
    await change(first.body.rideId, { needs: [], passengerCount: 2 });
    await partner.post(`/rides/${first.body.rideId}/fare`, { fare: 26 });
    await partner.post(`/rides/${first.body.rideId}/fare`, { fare: 28 });
    expect((await partner.createRide({ needs: ['pet'] }, under)).text).to.equal(first.text);
    expect((await partner.get(`/rides/${first.body.rideId}`)).body).not.to.have.property('needs');
  });

  it('a new pickup time moves the opening of a ride that waits, and keeps an open ride open', async () => {
    const { body: later } = await partner.createRide({ pickupAt: inHours(5) });
    await change(later.rideId, { pickupAt: inHours(9) });
    const waiting = await storedRide(later.rideId);
    expect(Number(waiting.pickupAt) - Number(waiting.biddingOpensAt)).to.equal(30 * 60_000);
    expect(waiting.timers).to.deep.equal([{ name: 'open', dueAt: waiting.biddingOpensAt }]);
    const { body: now } = await partner.createRide();
    const { timers } = await storedRide(now.rideId);
    await change(now.rideId, { pickupAt: inHours(9) });
    const open = await storedRide(now.rideId);
    expect(open.timers).to.deep.equal(timers);
    expect(open.openedAt).to.deep.equal(open.createdAt);
  });

  it('a pickup time that is too near is refused, but a repeat of an earlier change is not', async () => {
    const { rideId } = await rideIn(api.ctx, 'bidding', { by: partner });
    const { status, headers } = await change(rideId, { pickupAt: inHours(0) });
    expect([status, headers.get('x-service-error-field')]).to.deep.equal([400, 'pickupAt']);
  });

  it('offers of drivers who no longer fit are withdrawn, and only the others see the ride, with its new values', async () => {
    const place = somewhere();
    const [small, large] = await Promise.all(
      [4, 7].map((seats) => newGatewayDriver(api, { at: place, seats, equipment: seats === 7 ? ['pet'] : [] })),
    );
    if (!small || !large) throw new Error('two drivers are needed');
    const rideId = await dispatchedRide(api.ctx, place, { keyId: partner.keyId });
    for (const driver of [small, large]) {
      await driver.post(`/requests/${rideId}/offers`, { price: 20, etaMinutes: 3 });
    }
    expect((await change(rideId, { passengerCount: 6, needs: ['pet'] })).status).to.equal(200);
    expect((await small.get('/requests')).body.requests).to.deep.equal([]);
    // The ride no longer counts as one of the driver's five requests, and another offer is refused.
    expect((await positions.findOne({ _id: small.driverId }))?.requests).to.deep.equal([]);
    const again = await small.post(`/requests/${rideId}/offers`, { price: 20, etaMinutes: 3 });
    expect(again.headers.get('x-service-error')).to.equal('equipment_missing');
    expect(again.body.error).to.include('seats');
    const [request] = (await large.get('/requests')).body.requests;
    expect(request).to.deep.include({ passengerCount: 6, needs: ['pet'] });
    expect((await partner.get(`/rides/${rideId}/offers`)).body.offers).to.have.length(1);
    expect((await storedRide(rideId)).timers.map(({ name }) => name)).to.include('dispatch');
  });

  for (const [needed, no] of [
    [{ passengerCount: 6 }, { passengerCount: 1 }],
    [{ needs: ['pet'] }, { needs: [] }],
  ] as const) {
    it(`a ride that no longer has ${JSON.stringify(needed)} is opened at once to the drivers who fit again, and to others`, async () => {
      const place = somewhere();
      const newDriver = () => newGatewayDriver(api, { at: place });
      const asked = await newDriver();
      const rideId = await dispatchedRide(api.ctx, place, { keyId: partner.keyId });
      await change(rideId, needed);
      const other = await newDriver();
      expect((await change(rideId, no)).status).to.equal(200);
      await runDispatch(api.ctx, rideId, 'ask');
      for (const driver of [asked, other]) {
        expect((await driver.get('/requests')).body.requests).to.have.length(1);
      }
    });
  }

  it('a driver who declined a ride is not asked again after a change', async () => {
    const place = somewhere();
    const driver = await newGatewayDriver(api, { at: place });
    const rideId = await dispatchedRide(api.ctx, place, { keyId: partner.keyId });
    await driver.remove(`/requests/${rideId}`);
    for (const passengerCount of [6, 1]) await change(rideId, { passengerCount });
    await runDispatch(api.ctx, rideId, 'ask');
    expect((await driver.get('/requests')).body.requests).to.deep.equal([]);
  });

  it('the chosen driver sees a change on the stream', async () => {
    const { driver, rideId } = await chosenDriver();
    const stream = await driver.stream();
    await change(rideId, { notes: 'side entrance' });
    await nextOf(stream, ({ ride }) => ride?.notes === 'side entrance');
    await stream.close();
  });

  it('two changes at the same moment both apply', async () => {
    const { rideId } = await rideIn(api.ctx, 'bidding', { by: partner });
    await Promise.all([
      change(rideId, { notes: 'a' }),
      change(rideId, { reference: 'b' }),
      change(rideId, { floor: 2 }),
    ]);
    expect(await storedRide(rideId)).to.deep.include({ notes: 'a', reference: 'b', floor: 2 });
  });

  it('the phone number of a passenger who gets texts can only change to one that can be texted', async () => {
    const phone = '+12025550143';
    const { body } = await partner.createRide({ passenger: { phone }, notify: { passenger: true } });
    const { status, headers } = await change(body.rideId, { passenger: { phone: 'desk 5' } });
    expect([status, headers.get('x-service-error-field')]).to.deep.equal([400, 'passenger.phone']);
    expect((await change(body.rideId, { passenger: { name: 'Ann', phone } })).status).to.equal(200);
    expect((await storedRide(body.rideId)).passenger).to.deep.equal({ name: 'Ann', phone });
  });

  it('a wrong value is a 400 that changes nothing', async () => {
    const { rideId } = await rideIn(api.ctx, 'bidding', { by: partner });
    const before = await storedRide(rideId);
    for (const [terms, field] of [
      [{ webhookUrl: 'http://10.0.0.1/' }, 'webhookUrl'],
      ['{"metadata":{"__proto__":"x"}}', 'metadata'],
    ] as const) {
      const { status, headers } = await change(rideId, terms);
      expect([status, headers.get('x-service-error-field')]).to.deep.equal([400, field]);
    }
    expect(await storedRide(rideId)).to.deep.equal(before);
  });

  const raise = (rideId: string, fare: unknown) => partner.post(`/rides/${rideId}/fare`, { fare });
  const newRideAt = async (fare: number): Promise<string> => (await partner.createRide({ fare })).body.rideId;

  it('raising the fare sends no event, and keeps the offers', async () => {
    const rideId = await newRideAt(20);
    await offerOn(api.ctx, rideId, { price: 24 });
    const { status, body } = await raise(rideId, 23.5);
    expect(status).to.equal(200);
    expect(body).to.deep.equal({ success: true, rideId, status: 'bidding', fare: 23.5 });
    expect((await partner.get(`/rides/${rideId}`)).body).to.include({ fare: 23.5, offersCount: 1 });
    expect((await partner.get(`/rides/${rideId}/offers`)).body.offers[0].price).to.equal(24);
    const ride = await storedRide(rideId);
    expect(ride.seq).to.equal(1);
    expect(ride.fareRaisedAt).to.be.within(ride.createdAt, new Date(api.ctx.now()));
    expect(ride.timers.map(({ name }) => name)).to.have.members(['expire', 'dispatch']);
    await offerOn(api.ctx, rideId, { price: 30 });
    expect(JSON.parse((await storedRide(rideId)).events[1]?.body ?? '').fare).to.equal(23.5);
  });

  it('concurrent raises end with the highest fare', async () => {
    const rideId = await newRideAt(20);
    const answers = await Promise.all([24, 21, 30, 26, 22, 28].map((fare) => raise(rideId, fare)));
    for (const { status } of answers) expect(status).to.be.oneOf([200, 409]);
    expect((await storedRide(rideId)).fare).to.equal(30);
  });

  it('drivers who were asked see the raised fare in the list of requests and in the stream', async () => {
    const place = somewhere();
    const driver = await newGatewayDriver(api, { at: place });
    const rideId = await dispatchedRide(api.ctx, place, { keyId: partner.keyId, fare: 20 });
    const stream = await driver.stream();
    expect((await stream.next()).requests).to.have.length(1);
    await raise(rideId, 27.5);
    await nextOf(stream, ({ requests }) => requests?.[0].fare === 27.5);
    expect((await driver.get('/requests')).body.requests[0].fare).to.equal(27.5);
    await stream.close();
  });
});
