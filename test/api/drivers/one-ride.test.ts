import { expect } from 'chai';
import { suspendDriver } from '../../../shared/drivers/manage-drivers.ts';
import { positions } from '../../../shared/drivers/positions.ts';
import { makeOffer } from '../../../shared/rides/driver/driver-actions.ts';
import { sweep } from '../../../workers/periodic/sweeper/sweep.ts';
import { useDriverRides } from '../../support/driver-rides.ts';
import { newGatewayDriver, person, runDispatch, somewhere } from '../../support/drivers.ts';
import { newDriver, offerOn } from '../../support/rides.ts';
import { makeDue, outcomeOf, storedRide } from '../../support/stored-rides.ts';

describe('drivers have one ride at a time', () => {
  const { api, partner, openRide, offerBy, accept, step, rideOf, chosenDriver, askedDriver } = useDriverRides();

  /** Creates a driver who has offers on two rides and was chosen for the first. */
  async function chosenWithAnotherOffer() {
    const place = somewhere();
    const driver = await newGatewayDriver(api, { at: place });
    const [taken, open] = [await openRide(place), await openRide(place)];
    const offerId = await offerBy(driver, taken);
    await offerBy(driver, open);
    await accept(taken, offerId);
    return { driver, taken, open };
  }

  it('only one of two partners can accept the same driver; the other gets 409 and loses the offer', async () => {
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

  it("the driver's other offers are withdrawn even if the job is lost", async () => {
    const { taken, open } = await chosenWithAnotherOffer();
    // Redis loses the job, but the ride still has the timer.
    await api.ctx.redis.flushall();
    await sweep(api.ctx, { everything: true });
    const jobs = await api.ctx.queues.dispatch.getJobs(['waiting', 'delayed']);
    expect(jobs.map(({ data }) => data)).to.deep.include({ rideId: taken, timer: 'driver' });
    await runDispatch(api.ctx, taken, 'driver');
    expect((await storedRide(open)).offers[0]).to.have.property('withdrawnAt');
    expect((await storedRide(taken)).timers.map(({ name }) => name)).to.deep.equal(['stall']);
  });

  it("the driver's other offers are withdrawn even if the driver's next steps come before the job", async () => {
    const { driver, taken, open } = await chosenWithAnotherOffer();
    await step(driver, 'arrive', taken);
    await step(driver, 'start', taken);
    await runDispatch(api.ctx, taken, 'driver');
    expect((await storedRide(open)).offers[0]).to.have.property('withdrawnAt');
    expect(await positions.findOne({ _id: driver.driverId })).to.include({ available: false, rideId: taken });
    expect((await storedRide(taken)).timers.map(({ name }) => name)).to.deep.equal(['stall']);
  });

  it('a driver on a ride is never available despite reports, and after the ride only if online', async () => {
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

  it('the next dispatch round withdraws the offers of drivers who are on another ride', async () => {
    const place = somewhere();
    const driver = await newGatewayDriver(api, { at: place });
    const [taken, open] = [await openRide(place), await openRide(place)];
    const offerId = await offerBy(driver, taken);
    await accept(taken, offerId);
    await runDispatch(api.ctx, taken, 'driver');
    // Simulates an offer that was in flight during the accept, before the API crashed.
    await offerOn(api.ctx, open, { driver: newDriver({ driverId: driver.driverId }) });
    await makeDue(open, 'dispatch');
    await runDispatch(api.ctx, open);
    expect((await storedRide(open)).offers[0]).to.have.property('withdrawnAt');
  });

  it('suspending drivers cancels their ride as `driver` and withdraws their offers', async () => {
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

  it('the next dispatch round withdraws an offer that was made during the suspension', async () => {
    const place = somewhere();
    const driver = await newGatewayDriver(api, { at: place });
    const open = await openRide(place);
    await suspendDriver(driver.driverId);
    await sweep(api.ctx, { everything: false });
    // Simulates an offer that was in flight during the suspension, before the API crashed.
    await offerOn(api.ctx, open, { driver: newDriver({ driverId: driver.driverId }) });
    await makeDue(open, 'dispatch');
    await runDispatch(api.ctx, open);
    expect((await storedRide(open)).offers[0]).to.have.property('withdrawnAt');
  });

  it('an offer in flight during the suspension fails with `unauthorized` and is withdrawn', async () => {
    const place = somewhere();
    const { driverId } = await newGatewayDriver(api, { at: place });
    const rideId = await openRide(place);
    await suspendDriver(driverId);
    const offer = makeOffer(
      api.ctx,
      rideId,
      { price: 20, etaMinutes: 5 },
      { driverId, ...person, rating: 4.8, own: { rating: 4.8 } },
    );
    expect(await outcomeOf(offer)).to.equal('unauthorized');
    expect((await storedRide(rideId)).offers[0]).to.have.property('withdrawnAt');
  });

  it('a ride that is accepted right after the suspension is cancelled as `driver`', async () => {
    const { driver, rideId } = await askedDriver();
    const offerId = await offerBy(driver, rideId);
    await suspendDriver(driver.driverId);
    expect((await accept(rideId, offerId)).status).to.equal(200);
    await runDispatch(api.ctx, rideId, 'driver');
    expect((await partner.get(`/rides/${rideId}`)).body).to.include({ status: 'cancelled', cancelledBy: 'driver' });
  });
});
