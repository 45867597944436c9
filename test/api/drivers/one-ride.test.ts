import { expect } from 'chai';
import { suspendDriver } from '../../../shared/drivers/manage-drivers.ts';
import { positions } from '../../../shared/drivers/positions.ts';
import { makeOffer } from '../../../shared/rides/driver/driver-actions.ts';
import { sweep } from '../../../workers/periodic/sweeper/sweep.ts';
import { useDriverRides } from '../../support/driver-rides.ts';
import { newGatewayDriver, person, runDispatch, somewhere } from '../../support/drivers.ts';
import { newDriver, offerOn } from '../../support/rides.ts';
import { makeDue, outcomeOf, storedRide } from '../../support/stored-rides.ts';

describe('a driver has one ride at a time', () => {
  const { api, partner, openRide, offerBy, accept, step, rideOf, chosenDriver } = useDriverRides();

  describe('one ride at a time', () => {
    /** A driver with offers on two rides, who was chosen for the first. */
    async function chosenWithAnotherOffer() {
      const place = somewhere();
      const driver = await newGatewayDriver(api, { at: place });
      const [taken, open] = [await openRide(place), await openRide(place)];
      const offerId = await offerBy(driver, taken);
      await offerBy(driver, open);
      await accept(taken, offerId);
      return { driver, taken, open };
    }

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
      const { taken, open } = await chosenWithAnotherOffer();
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
      const { driver, taken, open } = await chosenWithAnotherOffer();
      await step(driver, 'arrive', taken);
      await step(driver, 'start', taken);
      await runDispatch(api.ctx, taken, 'driver');
      expect((await storedRide(open)).offers[0]).to.have.property('withdrawnAt');
      expect(await positions.findOne({ _id: driver.driverId })).to.include({ available: false, rideId: taken });
      expect((await storedRide(taken)).timers.map(({ name }) => name)).to.deep.equal(['stall']);
    });

    it('keeps the driver out of the search until it ends, whatever the driver reports, and then only if online', async () => {
      const { driver, rideId, place } = await chosenDriver();
      await runDispatch(api.ctx, rideId, 'driver');
      await driver.put('/me/position', place);
      expect(await positions.findOne({ _id: driver.driverId })).to.include({ available: false, isOnline: true });
      await driver.post('/me/offline');
      await step(driver, 'cancel', rideId);
      await runDispatch(api.ctx, rideId, 'driver');
      const after = await positions.findOne({ _id: driver.driverId });
      expect(after).to.include({ available: false }).and.not.to.have.property('rideId');
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

    it('loses at once an offer that was under way', async () => {
      const place = somewhere();
      const { driverId } = await newGatewayDriver(api, { at: place });
      const rideId = await openRide(place);
      await suspendDriver(driverId);
      const offer = makeOffer(api.ctx, rideId, { price: 20, etaMinutes: 5 }, { driverId, ...person, rating: 4.8 });
      expect(await outcomeOf(offer)).to.equal('unauthorized');
      expect((await storedRide(rideId)).offers[0]).to.have.property('withdrawnAt');
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
});
