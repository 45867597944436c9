import { expect } from 'chai';
import type { Point } from '../../../shared/base/haversine.ts';
import { newDriverId } from '../../../shared/base/ids.ts';
import { suspendDriver } from '../../../shared/drivers/manage-drivers.ts';
import { positions } from '../../../shared/drivers/positions.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { sweep } from '../../../workers/periodic/sweeper/sweep.ts';
import { call } from '../../support/client.ts';
import { type GatewayDriver, newGatewayDriver, runDispatch, somewhere } from '../../support/drivers.ts';
import { fireTimer } from '../../support/fire-timer.ts';
import { newDriver, offerOn } from '../../support/rides.ts';
import { usePartner, useTestApi } from '../../support/service.ts';
import { endBidding, makeDue, statusesSent, storedRide } from '../../support/stored-rides.ts';

const canaries = ['Canary Person', '+12025559999', 'canary notes', 'Canary Street', 'Canary Avenue'];
const secrets = {
  passenger: { name: 'Canary Person', phone: '+12025559999' },
  notes: 'canary notes',
};

describe("a driver's ride", () => {
  const api = useTestApi();
  const partner = usePartner(api, 'live');

  /** A live ride that was opened to the drivers nearby. */
  async function openRide(place: Point, fields: object = {}): Promise<string> {
    const { body } = await partner.createRide({
      pickup: { ...place, address: 'Canary Street' },
      destination: { lat: place.lat + 0.05, lng: place.lng, address: 'Canary Avenue' },
      fare: 20,
      ...secrets,
      ...fields,
    });
    await runDispatch(api.ctx, body.rideId);
    return body.rideId;
  }
  const offerBy = async (driver: GatewayDriver, rideId: string, price = 20): Promise<string> =>
    (await driver.post(`/requests/${rideId}/offers`, { price, etaMinutes: 5 })).body.offerId;
  const accept = (rideId: string, offerId: string, by = partner) => by.post(`/rides/${rideId}/accept`, { offerId });
  const step = (driver: GatewayDriver, name: string, rideId: string) => driver.post(`/ride/${name}`, { rideId });
  const requestsOf = async (driver: GatewayDriver) => (await driver.get('/requests')).body.requests;
  const rideOf = async (driver: GatewayDriver) => (await driver.get('/ride')).body.ride;
  const refusal = ({ status, body }: { status: number; body: { error: string } }) => [status, body.error];

  /** A driver who was chosen for a ride. */
  async function chosenDriver(place = somewhere()) {
    const driver = await newGatewayDriver(api, { at: place });
    const rideId = await openRide(place);
    const offerId = await offerBy(driver, rideId, 22);
    await accept(rideId, offerId);
    return { driver, rideId, offerId, place };
  }

  describe('GET /requests', () => {
    it('answers the open rides nearby, with exactly these fields and without addresses', async () => {
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

    it("shows the driver's own live offer, and no other's", async () => {
      const place = somewhere();
      const [driver, other] = [await newGatewayDriver(api, { at: place }), await newGatewayDriver(api, { at: place })];
      const rideId = await openRide(place);
      const offerId = await offerBy(driver, rideId, 23.5);
      await offerBy(other, rideId, 19);
      expect((await requestsOf(driver))[0].offer).to.deep.equal({ offerId, price: 23.5, etaMinutes: 5 });
      await driver.remove(`/requests/${rideId}/offers/${offerId}`);
      expect((await requestsOf(driver))[0]).not.to.have.property('offer');
      expect((await requestsOf(other))[0].offer).to.include({ price: 19 });
    });

    it('is empty for a driver who was not asked', async () => {
      const driver = await newGatewayDriver(api, { at: somewhere() });
      await openRide(somewhere());
      expect(await requestsOf(driver)).to.deep.equal([]);
    });

    it('leaves out rides that were accepted, cancelled, or whose bidding time is over', async () => {
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

    it('is empty while the driver is on a ride, and full again after it', async () => {
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
    it('makes an offer that the partner sees and receives as an event', async () => {
      const place = somewhere();
      const driver = await newGatewayDriver(api, { at: place });
      const rideId = await openRide(place);
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

    it('is a 404 for a ride that was not opened to the driver, like an unknown one', async () => {
      const driver = await newGatewayDriver(api, { at: somewhere() });
      const foreign = await openRide(somewhere());
      const terms = { price: 1, etaMinutes: 1 };
      const unknown = await driver.post('/requests/ride_unknown/offers', terms);
      expect(refusal(unknown)).to.deep.equal([404, 'Ride not found']);
      expect(refusal(await driver.post(`/requests/${foreign}/offers`, terms))).to.deep.equal(refusal(unknown));
      expect((await storedRide(foreign)).offers).to.deep.equal([]);
    });

    it('is a 404 for a test ride, even one that names the driver', async () => {
      const place = somewhere();
      const driver = await newGatewayDriver(api, { at: place });
      const tester = await api.partner('test');
      const { rideId } = (await tester.createRide({ pickup: place }, { 'X-Service-Test-Scenario': 'no_offers' })).body;
      await rides.updateOne({ _id: rideId }, { $set: { asked: [{ driverId: driver.driverId, pickupKm: 0 }] } });
      expect((await driver.post(`/requests/${rideId}/offers`, { price: 1, etaMinutes: 1 })).status).to.equal(404);
      expect(await requestsOf(driver)).to.deep.equal([]);
    });

    it('is a 409 for a second live offer, and possible again once that is withdrawn', async () => {
      const place = somewhere();
      const driver = await newGatewayDriver(api, { at: place });
      const rideId = await openRide(place);
      const offerId = await offerBy(driver, rideId);
      const again = await driver.post(`/requests/${rideId}/offers`, { price: 1, etaMinutes: 1 });
      expect(refusal(again)).to.deep.equal([409, 'The driver already has a live offer on this ride']);
      await driver.remove(`/requests/${rideId}/offers/${offerId}`);
      expect(await offerBy(driver, rideId))
        .to.be.a('string')
        .and.not.equal(offerId);
    });

    it('refuses the fourth offer of a driver on a ride with 409, withdrawn ones included, and accepts that of another', async () => {
      const place = somewhere();
      const [driver, other] = [await newGatewayDriver(api, { at: place }), await newGatewayDriver(api, { at: place })];
      const rideId = await openRide(place);
      for (let made = 0; made < 3; made++) {
        await driver.remove(`/requests/${rideId}/offers/${await offerBy(driver, rideId)}`);
      }
      const fourth = await driver.post(`/requests/${rideId}/offers`, { price: 1, etaMinutes: 1 });
      expect(refusal(fourth)).to.deep.equal([
        409,
        'The driver has made 3 offers on this ride, as many as one driver can',
      ]);
      expect((await storedRide(rideId)).offers).to.have.length(3);
      expect(await offerBy(other, rideId)).to.be.a('string');
    });

    it('is a 409 for the 51st offer of a ride', async () => {
      const place = somewhere();
      const driver = await newGatewayDriver(api, { at: place });
      const rideId = await openRide(place);
      for (let made = 0; made < 50; made++) await offerOn(api.ctx, rideId);
      expect((await driver.post(`/requests/${rideId}/offers`, { price: 1, etaMinutes: 1 })).status).to.equal(409);
    });

    it('is a 409 after an accept, a cancel and the end of the bidding time', async () => {
      const place = somewhere();
      const [driver, other] = [await newGatewayDriver(api, { at: place }), await newGatewayDriver(api, { at: place })];
      const [accepted, cancelled, over] = [await openRide(place), await openRide(place), await openRide(place)];
      await accept(accepted, await offerBy(other, accepted));
      await partner.post(`/rides/${cancelled}/cancel`);
      await endBidding(over);
      for (const rideId of [accepted, cancelled, over]) {
        expect((await driver.post(`/requests/${rideId}/offers`, { price: 1, etaMinutes: 1 })).status).to.equal(409);
      }
    });

    it('is a 409 while the driver is on a ride, and sends no event', async () => {
      const place = somewhere();
      const driver = await newGatewayDriver(api, { at: place });
      const [taken, open] = [await openRide(place), await openRide(place)];
      await accept(taken, await offerBy(driver, taken));
      const answer = await driver.post(`/requests/${open}/offers`, { price: 1, etaMinutes: 1 });
      expect(refusal(answer)).to.deep.equal([409, 'The driver is on a ride']);
      expect((await storedRide(open)).events).to.deep.equal([]);
    });
  });

  describe('DELETE /requests/:rideId/offers/:offerId', () => {
    it('withdraws the offer, which the partner then cannot accept; once more is the same', async () => {
      const place = somewhere();
      const driver = await newGatewayDriver(api, { at: place });
      const rideId = await openRide(place);
      const offerId = await offerBy(driver, rideId);
      for (let time = 0; time < 2; time++) {
        const { status, text } = await driver.remove(`/requests/${rideId}/offers/${offerId}`);
        expect({ status, text }).to.deep.equal({ status: 204, text: '' });
      }
      expect((await partner.get(`/rides/${rideId}/offers`)).body.offers).to.deep.equal([]);
      expect(refusal(await accept(rideId, offerId))).to.deep.equal([409, 'The offer was withdrawn']);
    });

    it("is a 404 for another driver's offer, an unknown one, and a ride that was not opened to the driver", async () => {
      const place = somewhere();
      const [driver, other] = [await newGatewayDriver(api, { at: place }), await newGatewayDriver(api, { at: place })];
      const rideId = await openRide(place);
      const foreign = await offerBy(other, rideId);
      const remote = await openRide(somewhere());
      const { offerId } = await offerOn(api.ctx, remote);
      for (const path of [`${rideId}/offers/${foreign}`, `${rideId}/offers/x`, `${remote}/offers/${offerId}`]) {
        expect((await driver.remove(`/requests/${path}`)).status, path).to.equal(404);
      }
      expect((await storedRide(rideId)).offers[0]).not.to.have.property('withdrawnAt');
    });

    it('is a 409 once the offer is accepted', async () => {
      const { driver, rideId, offerId } = await chosenDriver();
      expect((await driver.remove(`/requests/${rideId}/offers/${offerId}`)).status).to.equal(409);
    });
  });

  describe('GET /ride', () => {
    it('is null before and after the ride, and in between shows it with exactly these fields', async () => {
      const { driver, rideId, place } = await chosenDriver();
      const other = await newGatewayDriver(api);
      expect((await other.get('/ride')).body).to.deep.equal({ ride: null });
      const { statusAt } = await storedRide(rideId);
      expect((await driver.get('/ride')).body).to.deep.equal({
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
        },
      });
      expect((await driver.get('/me')).body).to.include({ rideId, available: false });
      await partner.post(`/rides/${rideId}/cancel`);
      expect((await driver.get('/ride')).body).to.deep.equal({ ride: null });
      expect((await driver.get('/me')).body)
        .to.include({ available: true })
        .and.not.have.property('rideId');
    });
  });

  describe('the steps', () => {
    it('lead through the trip, with the events, driver and answers of test mode, testMode aside', async () => {
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
          ...['event', 'rideId', 'status', 'fare', 'agreedPrice', 'driver', 'trackUrl', 'at'],
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

    it('answer the same when they were taken before, also after the end, and change nothing', async () => {
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

    it('that were taken before a cancel still answer the same, and others are a 409', async () => {
      const { driver, rideId } = await chosenDriver();
      await step(driver, 'arrive', rideId);
      await partner.post(`/rides/${rideId}/cancel`);
      expect((await step(driver, 'arrive', rideId)).body).to.deep.equal({ rideId, status: 'arrived' });
      for (const name of ['start', 'complete', 'cancel']) {
        expect((await step(driver, name, rideId)).status, name).to.equal(409);
      }
    });

    it('are a 409 out of order', async () => {
      const { driver, rideId } = await chosenDriver();
      for (const name of ['start', 'complete']) expect((await step(driver, name, rideId)).status).to.equal(409);
      await step(driver, 'arrive', rideId);
      expect(refusal(await step(driver, 'complete', rideId))).to.deep.equal([
        409,
        'The ride is not in a status that allows this step',
      ]);
      expect(await storedRide(rideId)).to.include({ status: 'arrived' });
    });

    it("are a 409 on any ride but the driver's own, known or not", async () => {
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

    it('cancel ends the ride as cancelled by the driver; once more is the same', async () => {
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

    it('end by timeout when the trip makes no progress', async () => {
      const { driver, rideId } = await chosenDriver();
      await makeDue(rideId, 'stall');
      await fireTimer(api.ctx, rideId, 'stall');
      expect((await partner.get(`/rides/${rideId}`)).body).to.include({ status: 'cancelled', cancelledBy: 'timeout' });
      expect(await rideOf(driver)).to.equal(null);
    });
  });

  describe('one ride at a time', () => {
    it('lets one of two partners accept the same driver; the other gets a 409, and the offer is withdrawn', async () => {
      const place = somewhere();
      const driver = await newGatewayDriver(api, { at: place });
      const other = await api.partner('live');
      const first = await openRide(place);
      const second = await (async () => {
        const { body } = await other.createRide({ pickup: place });
        await runDispatch(api.ctx, body.rideId);
        return body.rideId;
      })();
      const [a, b] = [await offerBy(driver, first), await offerBy(driver, second)];
      const answers = await Promise.all([accept(first, a), accept(second, b, other)]);
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409]);
      const lost = answers[0]?.status === 409 ? first : second;
      const won = lost === first ? second : first;
      expect(answers.find(({ status }) => status === 409)?.body).to.deep.equal({
        error: 'The driver of this offer has taken another ride',
      });
      expect(await storedRide(lost)).to.include({ status: 'bidding' });
      await runDispatch(api.ctx, won, 'driver');
      expect((await storedRide(lost)).offers[0]).to.have.property('withdrawnAt');
      expect(await rideOf(driver)).to.include({ rideId: won });
    });

    it("withdraws the driver's other offers, also where the worker that should have died", async () => {
      const place = somewhere();
      const driver = await newGatewayDriver(api, { at: place });
      const [taken, open] = [await openRide(place), await openRide(place)];
      const offerId = await offerBy(driver, taken);
      await offerBy(driver, open);
      await accept(taken, offerId);
      // The job is lost with all of Redis, and the timer on the ride is left.
      await api.ctx.redis.flushall();
      await sweep(api.ctx, { everything: true });
      const jobs = await api.ctx.queues.dispatch.getJobs(['waiting', 'delayed']);
      expect(jobs.map(({ data }) => data)).to.deep.include({ rideId: taken, timer: 'driver' });
      await runDispatch(api.ctx, taken, 'driver');
      expect((await storedRide(open)).offers[0]).to.have.property('withdrawnAt');
      expect((await storedRide(taken)).timers.map(({ name }) => name)).to.deep.equal(['stall']);
    });

    it("withdraws the driver's other offers, also where the driver takes the next steps before a worker comes to it", async () => {
      const place = somewhere();
      const driver = await newGatewayDriver(api, { at: place });
      const [taken, open] = [await openRide(place), await openRide(place)];
      const offerId = await offerBy(driver, taken);
      await offerBy(driver, open);
      await accept(taken, offerId);
      await step(driver, 'arrive', taken);
      await step(driver, 'start', taken);
      await runDispatch(api.ctx, taken, 'driver');
      expect((await storedRide(open)).offers[0]).to.have.property('withdrawnAt');
      expect(await positions.findOne({ _id: driver.driverId })).to.include({ available: false, rideId: taken });
      expect((await storedRide(taken)).timers.map(({ name }) => name)).to.deep.equal(['stall']);
    });

    it('withdraws in the next round an offer that nobody withdrew', async () => {
      const place = somewhere();
      const driver = await newGatewayDriver(api, { at: place });
      const [taken, open] = [await openRide(place), await openRide(place)];
      const offerId = await offerBy(driver, taken);
      await accept(taken, offerId);
      await runDispatch(api.ctx, taken, 'driver');
      // As an offer that was under way during the accept would be, had the API died right after it.
      await offerOn(api.ctx, open, { driver: newDriver({ driverId: driver.driverId }) });
      await makeDue(open, 'dispatch');
      await runDispatch(api.ctx, open);
      expect((await storedRide(open)).offers[0]).to.have.property('withdrawnAt');
    });
  });

  describe('a driver who is suspended on a ride', () => {
    it('ends the ride, cancelled by the driver, and withdraws the offers', async () => {
      const { driver, rideId, place } = await chosenDriver();
      const bidder = await newGatewayDriver(api, { at: place });
      const open = await openRide(place);
      await offerBy(bidder, open);
      await suspendDriver(driver.driverId);
      await suspendDriver(bidder.driverId);
      await sweep(api.ctx, { everything: false });
      expect((await partner.get(`/rides/${rideId}`)).body).to.include({ status: 'cancelled', cancelledBy: 'driver' });
      expect((await partner.get(`/rides/${open}/offers`)).body.offers).to.deep.equal([]);
      for (const { driverId } of [driver, bidder]) {
        expect(await positions.findOne({ _id: driverId })).to.include({ available: false, isOnline: false });
      }
    });

    it('loses in the next round an offer that was made in the same moment', async () => {
      const place = somewhere();
      const driver = await newGatewayDriver(api, { at: place });
      const open = await openRide(place);
      await suspendDriver(driver.driverId);
      await sweep(api.ctx, { everything: false });
      // As an offer that was under way during the suspension would be, had the API died right after it.
      await offerOn(api.ctx, open, { driver: newDriver({ driverId: driver.driverId }) });
      await makeDue(open, 'dispatch');
      await runDispatch(api.ctx, open);
      expect((await storedRide(open)).offers[0]).to.have.property('withdrawnAt');
    });

    it('cannot keep a ride that was accepted in the same moment', async () => {
      const place = somewhere();
      const driver = await newGatewayDriver(api, { at: place });
      const rideId = await openRide(place);
      const offerId = await offerBy(driver, rideId);
      await suspendDriver(driver.driverId);
      expect((await accept(rideId, offerId)).status).to.equal(200);
      await runDispatch(api.ctx, rideId, 'driver');
      expect((await partner.get(`/rides/${rideId}`)).body).to.include({ status: 'cancelled', cancelledBy: 'driver' });
    });
  });

  describe('the car', () => {
    it("is where the driver reported last, on retrieve and on the map, from the accept to the ride's end", async () => {
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
      expect(await map()).not.to.have.property('position');
      expect((await storedRide(rideId)).lastPosition).to.deep.equal({ ...moved, heading: 12.5, at: new Date(at) });
    });

    it('keeps no later position on the ride than the last before the end', async () => {
      const { driver, rideId, place } = await chosenDriver();
      await partner.post(`/rides/${rideId}/cancel`);
      const before = (await storedRide(rideId)).lastPosition;
      expect(before).to.include(place);
      await driver.put('/me/position', { lat: place.lat + 1, lng: place.lng });
      await runDispatch(api.ctx, rideId, 'driver');
      expect((await storedRide(rideId)).lastPosition).to.deep.equal(before);
    });

    it('keeps no position on a ride without a driver', async () => {
      const rideId = await openRide(somewhere());
      await partner.post(`/rides/${rideId}/cancel`);
      expect(await storedRide(rideId)).not.to.have.property('lastPosition');
    });

    it('stays with its ride when the driver falls silent', async () => {
      const { driver, rideId } = await chosenDriver();
      const longAgo = new Date(api.ctx.now() - 3_600_000);
      await positions.updateOne({ _id: driver.driverId }, { $set: { seenAt: longAgo, at: longAgo } });
      await sweep(api.ctx, { everything: false });
      expect(await rideOf(driver)).to.include({ rideId });
      expect((await partner.get(`/rides/${rideId}`)).body.liveLocation.at).to.equal(longAgo.getTime());
    });
  });

  describe('the passenger, the notes and the addresses', () => {
    it('are seen by the chosen driver alone, and only until the end', async () => {
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

    it('are not in an answer to a partner about the driver, nor is the driver’s phone before the accept', async () => {
      const place = somewhere();
      const driver = await newGatewayDriver(api, { at: place, phone: '+12025557777' });
      const rideId = await openRide(place);
      const offerId = await offerBy(driver, rideId);
      const before = (await partner.get(`/rides/${rideId}`)).text + (await partner.get(`/rides/${rideId}/offers`)).text;
      expect(before).not.to.include('+12025557777').and.not.include(driver.driverId);
      await accept(rideId, offerId);
      const { body, text } = await partner.get(`/rides/${rideId}`);
      expect(body.driver).to.deep.equal({
        name: 'Dana Okoye',
        phone: '+12025557777',
        rating: 4.8,
        vehicle: 'Toyota Prius, blue',
        plate: 'T 104',
      });
      expect(text).not.to.include(driver.driverId).and.not.include('asked').and.not.include('rounds');
    });
  });

  it('is found by an index, whoever asks for it', async () => {
    const driverId = newDriverId();
    const stages = async (filter: object) =>
      JSON.stringify((await rides.find(filter).explain('queryPlanner')).queryPlanner.winningPlan);
    const open = { mode: 'live', status: 'bidding', 'asked.driverId': { $in: [driverId, newDriverId()] } };
    const moving = {
      mode: 'live',
      status: { $in: ['driver_arriving', 'arrived', 'in_progress'] },
      'driver.driverId': { $in: [driverId, newDriverId()] },
    };
    for (const filter of [open, moving, { $or: [open, moving] }]) {
      expect(await stages(filter))
        .to.include('IXSCAN')
        .and.not.include('COLLSCAN');
    }
  });
});
