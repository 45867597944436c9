import { expect } from 'chai';
import { positions } from '../../../shared/drivers/positions.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { useDriverRides } from '../../support/driver-rides.ts';
import { type GatewayDriver, newGatewayDriver, runDispatch, somewhere } from '../../support/drivers.ts';
import { offerOn } from '../../support/rides.ts';
import { endBidding, makeDue, storedRide } from '../../support/stored-rides.ts';

describe('requests and offers of drivers', () => {
  const given = useDriverRides();
  const { api, partner, openRide, offerBy, accept, step, requestsOf, refusal } = given;
  const { chosenDriver, askedDriver, askedDrivers } = given;

  it('the list of requests has the open rides nearby, with exactly their fields and without addresses', async () => {
    const place = somewhere();
    const at = { lat: place.lat + 0.01, lng: place.lng };
    const driver = await newGatewayDriver(api, { at, equipment: ['child_seat', 'pet'] });
    const pickupAt = Math.round(api.ctx.now()) + 20 * 60_000;
    const rideId = await openRide(place, { carType: 'regular', passengerCount: 3, needs: ['pet'], pickupAt });
    const answer = await driver.get('/requests');
    const { biddingEndsAt } = await storedRide(rideId);
    expect(answer.status).to.equal(200);
    expect(answer.body).to.deep.equal({
      requests: [
        {
          rideId,
          fare: 20,
          carType: 'regular',
          rideType: 'standard',
          passengerCount: 3,
          needs: ['pet'],
          pickupAt,
          pickup: place,
          destination: { lat: place.lat + 0.05, lng: place.lng },
          distanceKm: 5.56,
          pickupKm: 1.11,
          biddingEndsAt: biddingEndsAt.getTime(),
        },
      ],
    });
  });

  it("the list of requests shows only the driver's own live offer", async () => {
    const { driver, other, rideId } = await askedDrivers();
    const offerId = await offerBy(driver, rideId, 23.5);
    await offerBy(other, rideId, 19);
    expect((await requestsOf(driver))[0].offer).to.deep.equal({ offerId, price: 23.5, etaMinutes: 5 });
    await driver.remove(`/requests/${rideId}/offers/${offerId}`);
    expect((await requestsOf(driver))[0]).not.to.have.property('offer');
    expect((await requestsOf(other))[0].offer).to.include({ price: 19 });
  });

  it('the list of requests is empty for a driver who was not asked', async () => {
    const driver = await newGatewayDriver(api, { at: somewhere() });
    await openRide(somewhere());
    expect(await requestsOf(driver)).to.deep.equal([]);
  });

  it('the list of requests omits accepted and cancelled rides and rides whose bidding time is over', async () => {
    const place = somewhere();
    const [driver, other] = [await newGatewayDriver(api, { at: place }), await newGatewayDriver(api, { at: place })];
    const [accepted, cancelled, over, open] = [
      await openRide(place),
      await openRide(place),
      await openRide(place),
      await openRide(place),
    ];
    await accept(accepted, await offerBy(other, accepted));
    await partner.post(`/rides/${cancelled}/cancel`);
    await endBidding(over);
    const requests = await requestsOf(driver);
    expect(requests.map(({ rideId }: { rideId: string }) => rideId)).to.deep.equal([open]);
  });

  it('the list of requests is empty while the driver is on a ride', async () => {
    const place = somewhere();
    const driver = await newGatewayDriver(api, { at: place });
    const [taken, open] = [await openRide(place), await openRide(place)];
    await accept(taken, await offerBy(driver, taken));
    expect(await requestsOf(driver)).to.deep.equal([]);
    await step(driver, 'cancel', taken);
    expect((await requestsOf(driver)).map(({ rideId }: { rideId: string }) => rideId)).to.deep.equal([open]);
  });

  it('an offer on a ride that was not opened to the driver answers the same 404 as an unknown ride', async () => {
    const driver = await newGatewayDriver(api, { at: somewhere() });
    const foreign = await openRide(somewhere());
    const terms = { price: 1, etaMinutes: 1 };
    const unknown = await driver.post('/requests/ride_unknown/offers', terms);
    expect(refusal(unknown)).to.deep.equal([404, 'Ride not found']);
    expect(refusal(await driver.post(`/requests/${foreign}/offers`, terms))).to.deep.equal(refusal(unknown));
    expect((await storedRide(foreign)).offers).to.deep.equal([]);
  });

  it('an offer on a test ride answers 404, even if the ride lists the driver as asked', async () => {
    const place = somewhere();
    const driver = await newGatewayDriver(api, { at: place });
    const tester = await api.partner('test');
    const { rideId } = (await tester.createRide({ pickup: place }, { 'X-Service-Test-Scenario': 'no_offers' })).body;
    await rides.updateOne({ _id: rideId }, { $set: { asked: [{ driverId: driver.driverId, pickupKm: 0 }] } });
    expect((await driver.post(`/requests/${rideId}/offers`, { price: 1, etaMinutes: 1 })).status).to.equal(404);
    expect(await requestsOf(driver)).to.deep.equal([]);
  });

  it('withdrawing an offer is idempotent, and the partner can no longer accept it', async () => {
    const { driver, rideId } = await askedDriver();
    const offerId = await offerBy(driver, rideId);
    for (let time = 0; time < 2; time++) {
      const { status, text } = await driver.remove(`/requests/${rideId}/offers/${offerId}`);
      expect({ status, text }).to.deep.equal({ status: 204, text: '' });
    }
    expect((await partner.get(`/rides/${rideId}/offers`)).body.offers).to.deep.equal([]);
    expect(refusal(await accept(rideId, offerId))).to.deep.equal([409, 'The offer was withdrawn']);
  });

  it("withdrawing another driver's offer, an unknown offer or an offer on an unopened ride answers 404", async () => {
    const { driver, other, rideId } = await askedDrivers();
    const foreign = await offerBy(other, rideId);
    const remote = await openRide(somewhere());
    const { offerId } = await offerOn(api.ctx, remote);
    for (const path of [`${rideId}/offers/${foreign}`, `${rideId}/offers/x`, `${remote}/offers/${offerId}`]) {
      expect((await driver.remove(`/requests/${path}`)).status, path).to.equal(404);
    }
    expect((await storedRide(rideId)).offers[0]).not.to.have.property('withdrawnAt');
  });

  const outcome = async (driver: GatewayDriver, rideId: string) => (await driver.get(`/requests/${rideId}`)).body;
  const chosen = async (driver: GatewayDriver, rideId: string) => accept(rideId, await offerBy(driver, rideId));

  it('the chosen driver sees the outcome `chosen`, then `completed`; the others only see `other_driver`', async () => {
    const { rideId, driver: first, other: second } = await askedDrivers();
    expect(await outcome(first, rideId)).to.deep.equal({ rideId, outcome: 'open' });
    await chosen(first, rideId);
    expect(await outcome(first, rideId)).to.deep.equal({ rideId, outcome: 'chosen' });
    expect(await outcome(second, rideId)).to.deep.equal({ rideId, outcome: 'other_driver' });
    for (const step of ['arrive', 'start', 'complete']) await first.post(`/ride/${step}`, { rideId });
    expect(await outcome(first, rideId)).to.deep.equal({ rideId, outcome: 'completed' });
    expect(await outcome(second, rideId)).to.deep.equal({ rideId, outcome: 'other_driver' });
  });

  it('the outcome of a cancelled ride has cancelledBy, except for drivers who were not chosen', async () => {
    const open = await askedDrivers();
    await partner.post(`/rides/${open.rideId}/cancel`);
    const byPartner = { outcome: 'cancelled', cancelledBy: 'partner' };
    expect(await outcome(open.other, open.rideId)).to.deep.equal({ rideId: open.rideId, ...byPartner });
    const { rideId, driver: first, other: second } = await askedDrivers();
    await chosen(first, rideId);
    await first.post('/ride/cancel', { rideId });
    expect(await outcome(first, rideId)).to.deep.equal({ rideId, outcome: 'cancelled', cancelledBy: 'driver' });
    expect(await outcome(second, rideId)).to.deep.equal({ rideId, outcome: 'other_driver' });
  });

  it('the outcome is a 404 for a driver who was not asked, and for an unknown ride', async () => {
    const { rideId, driver: first } = await askedDrivers();
    expect((await (await newGatewayDriver(api)).get(`/requests/${rideId}`)).status).to.equal(404);
    expect((await first.get('/requests/ride_unknown')).status).to.equal(404);
  });

  it('a declined request leaves the list of this driver only, and a repeat changes nothing', async () => {
    const { driver, other, rideId } = await askedDrivers();
    for (let time = 0; time < 2; time++) {
      const { status, text } = await driver.remove(`/requests/${rideId}`);
      expect({ status, text }).to.deep.equal({ status: 204, text: '' });
    }
    expect(await requestsOf(driver)).to.deep.equal([]);
    expect(await requestsOf(other)).to.have.length(1);
    expect(await storedRide(rideId)).to.deep.include({ status: 'bidding', rev: 2, events: [] });
  });

  it('a declined request is not opened to the driver again, and makes room for a sixth one', async () => {
    const place = somewhere();
    const driver = await newGatewayDriver(api, { at: place });
    const rideIds: string[] = [];
    for (let made = 0; made < 6; made++) rideIds.push(await openRide(place));
    const [declined = '', sixth = ''] = [rideIds[0], rideIds[5]];
    expect(await requestsOf(driver)).to.have.length(5);
    await driver.remove(`/requests/${declined}`);
    for (const rideId of [declined, sixth]) {
      await makeDue(rideId, 'dispatch');
      await runDispatch(api.ctx, rideId);
    }
    const shown = (await requestsOf(driver)).map(({ rideId }: { rideId: string }) => rideId);
    expect(shown).to.have.members(rideIds.slice(1));
    expect((await positions.findOne({ _id: driver.driverId }))?.requests).to.have.members(rideIds.slice(1));
  });

  it("declining withdraws the driver's offer, and a later offer shows the request again", async () => {
    const { driver, rideId } = await askedDriver();
    const offerId = await offerBy(driver, rideId);
    await driver.remove(`/requests/${rideId}`);
    expect(refusal(await accept(rideId, offerId))).to.deep.equal([409, 'The offer was withdrawn']);
    expect(await requestsOf(driver)).to.deep.equal([]);
    const again = await offerBy(driver, rideId, 25);
    expect((await requestsOf(driver))[0].offer).to.include({ offerId: again, price: 25 });
  });

  it('of a decline and an accept at the same time, only the first one changes the ride', async () => {
    for (let race = 0; race < 10; race++) {
      const { driver, rideId } = await askedDriver();
      const offerId = await offerBy(driver, rideId);
      const [accepted, declined] = await Promise.all([accept(rideId, offerId), driver.remove(`/requests/${rideId}`)]);
      expect(declined.status).to.equal(204);
      const { status, asked = [], offers } = await storedRide(rideId);
      const isChosen = accepted.status === 200;
      expect(accepted.status).to.be.oneOf([200, 409]);
      expect(status).to.equal(isChosen ? 'driver_arriving' : 'bidding');
      expect(asked[0]?.declinedAt === undefined).to.equal(isChosen);
      expect(offers[0]?.withdrawnAt === undefined).to.equal(isChosen);
      expect((await driver.get('/ride')).body.ride !== null).to.equal(isChosen);
    }
  });

  it('a request stays declined if a dispatch round runs at the same time', async () => {
    const { driver, rideId } = await askedDriver();
    await makeDue(rideId, 'dispatch');
    await Promise.all([runDispatch(api.ctx, rideId), driver.remove(`/requests/${rideId}`)]);
    expect(await requestsOf(driver)).to.deep.equal([]);
    expect((await storedRide(rideId)).asked).to.have.length(1);
  });

  it('declining an own or an ended ride changes nothing, and a ride that was not opened answers 404', async () => {
    const { driver, rideId } = await chosenDriver();
    expect((await driver.remove(`/requests/${rideId}`)).status).to.equal(204);
    expect((await partner.get(`/rides/${rideId}`)).body.status).to.equal('driver_arriving');
    await partner.post(`/rides/${rideId}/cancel`);
    expect((await driver.remove(`/requests/${rideId}`)).status).to.equal(204);
    const foreign = await openRide(somewhere());
    expect(refusal(await driver.remove(`/requests/${foreign}`))).to.deep.equal([404, 'Ride not found']);
  });
});
