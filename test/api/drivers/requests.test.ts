import { expect } from 'chai';
import { rides } from '../../../shared/rides/ride.ts';
import { useDriverRides } from '../../support/driver-rides.ts';
import { newGatewayDriver, somewhere } from '../../support/drivers.ts';
import { offerOn } from '../../support/rides.ts';
import { endBidding, storedRide } from '../../support/stored-rides.ts';

describe('requests and offers of drivers', () => {
  const given = useDriverRides();
  const { api, partner, openRide, offerBy, accept, step, requestsOf, refusal } = given;
  const { askedDriver, askedDrivers } = given;

  describe('GET /requests', () => {
    it('the list of requests has the open rides nearby, with exactly their fields and without addresses', async () => {
      const place = somewhere();
      const driver = await newGatewayDriver(api, { at: { lat: place.lat + 0.01, lng: place.lng } });
      const rideId = await openRide(place, { carType: 'regular', passengerCount: 3 });
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
  });

  describe('POST /requests/:rideId/offers', () => {
    it("the partner sees a driver's offer in the list and receives it as an event", async () => {
      const { driver, rideId } = await askedDriver();
      const answer = await driver.post(`/requests/${rideId}/offers`, { price: 24.75, etaMinutes: 7 });
      expect(answer.status).to.equal(201);
      expect(answer.body).to.have.all.keys('offerId');
      const { offers } = (await partner.get(`/rides/${rideId}/offers`)).body;
      expect(offers).to.deep.equal([
        {
          offerId: answer.body.offerId,
          price: 24.75,
          etaMinutes: 7,
          driver: { name: 'Dana Okoye', rating: 4.8, plate: 'T 104', vehicle: 'Toyota Prius, blue' },
        },
      ]);
      const { events } = await storedRide(rideId);
      expect(events.map(({ event }) => event)).to.deep.equal(['offer.received']);
      expect(JSON.parse(events[0]?.body ?? '')).not.to.have.property('testMode');
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

    it('a driver on a ride gets a 409 for an offer on an opened ride, and a 404 on an unopened one', async () => {
      const place = somewhere();
      const driver = await newGatewayDriver(api, { at: place });
      const [taken, open] = [await openRide(place), await openRide(place)];
      await accept(taken, await offerBy(driver, taken));
      const answer = await driver.post(`/requests/${open}/offers`, { price: 1, etaMinutes: 1 });
      expect(refusal(answer)).to.deep.equal([409, 'The driver is on a ride']);
      expect((await storedRide(open)).events).to.deep.equal([]);
      const foreign = await openRide(somewhere());
      expect((await driver.post(`/requests/${foreign}/offers`, { price: 1, etaMinutes: 1 })).status).to.equal(404);
    });
  });

  describe('DELETE /requests/:rideId/offers/:offerId', () => {
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
  });
});
