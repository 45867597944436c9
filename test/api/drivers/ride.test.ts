import { expect } from 'chai';
import { newDriverId } from '../../../shared/base/ids.ts';
import { positions } from '../../../shared/drivers/positions.ts';
import { commitmentsOf, movingRidesOf, ridesOfDriver } from '../../../shared/rides/driver/driver-rides.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { sweep } from '../../../workers/periodic/sweeper/sweep.ts';
import { call } from '../../support/client.ts';
import { canaries, secrets, useDriverRides } from '../../support/driver-rides.ts';
import { type GatewayDriver, newGatewayDriver, runDispatch, somewhere } from '../../support/drivers.ts';
import { plansOf } from '../../support/plans.ts';
import { statusesSent, storedRide } from '../../support/stored-rides.ts';

describe('rides of drivers', () => {
  const { api, partner, openRide, offerBy, accept, step, rideOf, refusal, chosenDriver } = useDriverRides();

  it('/ride shows exactly the fields of the ride during it, and null before and after', async () => {
    const { driver, rideId, place } = await chosenDriver();
    const other = await newGatewayDriver(api);
    expect((await other.get('/ride')).body).to.deep.equal({ ride: null });
    const { statusAt } = await storedRide(rideId);
    const { body } = await driver.get('/ride');
    expect(body.ride.eta).to.include({ source: 'estimate' });
    delete body.ride.eta;
    expect(body).to.deep.equal({
      ride: {
        rideId,
        status: 'driver_arriving',
        statusAt: statusAt.getTime(),
        fare: 20,
        agreedPrice: 22,
        carType: 'regular',
        rideType: 'standard',
        passengerCount: 1,
        distanceKm: 5.56,
        pickup: { ...place, address: 'Canary Street' },
        destination: { lat: place.lat + 0.05, lng: place.lng, address: 'Canary Avenue' },
        ...secrets,
        passenger: { ...secrets.passenger, callUrl: 'tel:+12025559999' },
      },
    });
    const road = { line: '_p~iF~ps|U_ulLnnqC', km: 1, seconds: 90 };
    await rides.updateOne({ _id: rideId }, { $set: { route: { to: 'pickup', at: statusAt, road } } });
    expect((await driver.get('/ride')).body.ride.road).to.equal(road.line);
    expect((await driver.get('/me')).body).to.include({ rideId, available: false });
    await partner.post(`/rides/${rideId}/cancel`);
    expect((await driver.get('/ride')).body).to.deep.equal({ ride: null });
    expect((await driver.get('/me')).body)
      .to.include({ available: true })
      .and.not.have.property('rideId');
  });

  it('the steps complete the trip, with the same events and answers as in test mode, without testMode', async () => {
    const { driver, rideId } = await chosenDriver();
    const seen: string[] = [];
    for (const [name, status] of [
      ['arrive', 'arrived'],
      ['start', 'in_progress'],
      ['complete', 'completed'],
    ] as const) {
      const answer = await step(driver, name, rideId);
      expect({ status: answer.status, body: answer.body }).to.deep.equal({ status: 200, body: { rideId, status } });
      seen.push((await partner.get(`/rides/${rideId}`)).body.status);
    }
    expect(seen).to.deep.equal(['arrived', 'in_progress', 'completed']);
    const ride = await storedRide(rideId);
    expect(statusesSent(ride)).to.deep.equal(['offer.received', 'driver_arriving', ...seen]);
    for (const { body } of ride.events.slice(1)) {
      expect(JSON.parse(body)).to.have.all.keys(
        ...['event', 'rideId', 'status', 'fare', 'agreedPrice', 'driver', 'trackUrl', 'at', 'eventId', 'sequence'],
      );
      expect(JSON.parse(body).driver).to.deep.equal({
        name: 'Dana Okoye',
        phone: '+12025550100',
        plate: 'T 104',
        vehicle: 'Toyota Prius, blue',
      });
    }
    expect((await driver.get('/me')).body.available).to.equal(true);
  });

  it('a repeated step gets the same answer and changes nothing, even after the end', async () => {
    const { driver, rideId } = await chosenDriver();
    const steps = [
      ['arrive', 'arrived'],
      ['start', 'in_progress'],
      ['complete', 'completed'],
    ] as const;
    for (const [index, [name]] of steps.entries()) {
      await step(driver, name, rideId);
      const { rev } = await storedRide(rideId);
      for (const [earlier, status] of steps.slice(0, index + 1)) {
        const again = await step(driver, earlier, rideId);
        expect({ status: again.status, body: again.body }).to.deep.equal({ status: 200, body: { rideId, status } });
      }
      expect(await storedRide(rideId)).to.include({ rev });
    }
  });

  it('after a cancel by the partner, a repeated step gets the same answer and new steps answer 409', async () => {
    const { driver, rideId } = await chosenDriver();
    await step(driver, 'arrive', rideId);
    await partner.post(`/rides/${rideId}/cancel`);
    expect((await step(driver, 'arrive', rideId)).body).to.deep.equal({ rideId, status: 'arrived' });
    for (const name of ['start', 'complete', 'cancel']) {
      expect((await step(driver, name, rideId)).status, name).to.equal(409);
    }
  });

  it("a step on any ride other than the driver's own answers 409, even on an unknown ride", async () => {
    const { rideId, place } = await chosenDriver();
    const other = await newGatewayDriver(api, { at: place });
    const open = await openRide(place);
    for (const foreign of [rideId, open, 'ride_unknown', '$where', '__proto__']) {
      for (const name of ['arrive', 'start', 'complete', 'cancel']) {
        expect(refusal(await step(other, name, foreign)), `${name} ${foreign}`).to.deep.equal([
          409,
          "This is not the driver's own ride",
        ]);
      }
    }
    expect(await storedRide(rideId)).to.include({ status: 'driver_arriving' });
  });

  it('the step cancel cancels the ride as `driver`, and is idempotent', async () => {
    const { driver, rideId } = await chosenDriver();
    for (let time = 0; time < 2; time++) {
      const answer = await step(driver, 'cancel', rideId);
      expect({ status: answer.status, body: answer.body }).to.deep.equal({
        status: 200,
        body: { rideId, status: 'cancelled' },
      });
    }
    expect((await partner.get(`/rides/${rideId}`)).body).to.include({ status: 'cancelled', cancelledBy: 'driver' });
    expect(statusesSent(await storedRide(rideId))).to.deep.equal(['offer.received', 'driver_arriving', 'cancelled']);
  });

  it("retrieve and the live map show the driver's last position from the accept to the end of the ride", async () => {
    const { driver, rideId, place } = await chosenDriver();
    const { trackUrl } = (await partner.get(`/rides/${rideId}`)).body;
    const map = async () => (await call(`${api.url}${new URL(trackUrl).pathname}/state`)).body;
    const at = api.ctx.now();
    const moved = { lat: place.lat + 0.01, lng: place.lng };
    await driver.put('/me/position', { ...moved, heading: 12.5, at });
    const { liveLocation } = (await partner.get(`/rides/${rideId}`)).body;
    expect(liveLocation).to.deep.equal({ ...moved, heading: 12.5, status: 'driver_arriving', at });
    expect((await map()).position).to.deep.equal({ ...moved, heading: 12.5, at });
    for (const name of ['arrive', 'start', 'complete']) await step(driver, name, rideId);
    expect((await partner.get(`/rides/${rideId}`)).body).not.to.have.property('liveLocation');
    await driver.put('/me/position', { lat: place.lat + 1, lng: place.lng, at: at + 1_000 });
    expect((await map()).position).to.deep.equal({ ...moved, heading: 12.5, at }, 'where the ride was completed');
    expect((await storedRide(rideId)).lastPosition).to.deep.equal({ ...moved, heading: 12.5, at: new Date(at) });
  });

  it('30 concurrent retrievals of a ride show the position of its car', async () => {
    const { driver, rideId, place } = await chosenDriver();
    const at = api.ctx.now();
    await driver.put('/me/position', { ...place, heading: 12.5, at });
    const retrieved = await Promise.all(Array.from({ length: 30 }, () => partner.get(`/rides/${rideId}`)));
    for (const { body } of retrieved) expect(body.liveLocation).to.include({ ...place, heading: 12.5, at });
  });

  it('positions after the end of a ride do not change its lastPosition', async () => {
    const { driver, rideId, place } = await chosenDriver();
    await partner.post(`/rides/${rideId}/cancel`);
    const before = (await storedRide(rideId)).lastPosition;
    expect(before).to.include(place);
    await driver.put('/me/position', { lat: place.lat + 1, lng: place.lng });
    await runDispatch(api.ctx, rideId, 'driver');
    expect((await storedRide(rideId)).lastPosition).to.deep.equal(before);
  });

  it('a ride without a driver has no lastPosition', async () => {
    const rideId = await openRide(somewhere());
    await partner.post(`/rides/${rideId}/cancel`);
    expect(await storedRide(rideId)).not.to.have.property('lastPosition');
  });

  it('a driver who stops reporting keeps the ride and its last position', async () => {
    const { driver, rideId } = await chosenDriver();
    const longAgo = new Date(api.ctx.now() - 3_600_000);
    await positions.updateOne({ _id: driver.driverId }, { $set: { seenAt: longAgo, at: longAgo } });
    await sweep(api.ctx, { everything: false });
    expect(await rideOf(driver)).to.include({ rideId });
    expect((await partner.get(`/rides/${rideId}`)).body.liveLocation.at).to.equal(longAgo.getTime());
  });

  it('only the chosen driver sees passenger, notes and addresses, and only until the end', async () => {
    const place = somewhere();
    const [driver, loser] = [await newGatewayDriver(api, { at: place }), await newGatewayDriver(api, { at: place })];
    const bystander = await newGatewayDriver(api, { at: somewhere() });
    const rideId = await openRide(place);
    const everything = async (each: GatewayDriver) =>
      (await Promise.all(['/me', '/requests', '/ride'].map((path) => each.get(path)))).map(({ text }) => text).join();
    const seenBy = async (each: GatewayDriver) => {
      const text = await everything(each);
      return canaries.filter((canary) => text.includes(canary));
    };
    const offerId = await offerBy(driver, rideId);
    await offerBy(loser, rideId);
    for (const each of [driver, loser, bystander]) expect(await seenBy(each)).to.deep.equal([]);
    await accept(rideId, offerId);
    expect(await seenBy(driver)).to.deep.equal(canaries);
    for (const each of [loser, bystander]) expect(await seenBy(each)).to.deep.equal([]);
    await step(driver, 'arrive', rideId);
    await step(driver, 'start', rideId);
    expect(await seenBy(driver)).to.deep.equal(canaries);
    const last = await step(driver, 'complete', rideId);
    expect(canaries.filter((canary) => last.text.includes(canary))).to.deep.equal([]);
    expect(await seenBy(driver)).to.deep.equal([]);
  });

  it('every query for rides of drivers uses an index', async () => {
    const driverId = newDriverId();
    const plans = await plansOf(() =>
      Promise.all([ridesOfDriver(api.ctx.now)(driverId), movingRidesOf([driverId]), commitmentsOf(driverId)]),
    );
    expect(plans).to.have.length(4);
    for (const { stages } of plans) expect(stages).to.include('IXSCAN').and.not.include('COLLSCAN');
  });
});
