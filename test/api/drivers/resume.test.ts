import { expect } from 'chai';
import { goOffline, goOnline, noteRide, readCounts } from '../../../shared/drivers/change-availability.ts';
import { drivers } from '../../../shared/drivers/driver.ts';
import { suspendDriver } from '../../../shared/drivers/manage-drivers.ts';
import { positions } from '../../../shared/drivers/positions.ts';
import { resumeDriver, settleDriver } from '../../../shared/rides/driver/settle-driver.ts';
import { hold, releaseRide } from '../../../shared/rides/held-rides.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { sweep } from '../../../workers/periodic/sweeper/sweep.ts';
import { useDriverRides } from '../../support/driver-rides.ts';
import { type GatewayDriver, newGatewayDriver, person, runDispatch, somewhere } from '../../support/drivers.ts';
import { onceInsteadOf } from '../../support/failing-mongo.ts';
import { storedRide } from '../../support/stored-rides.ts';

describe('drivers who are suspended and resumed before the next sweep', () => {
  const { api, openRide, offerBy, accept, askedDriver } = useDriverRides();

  const sweepOnce = () => sweep(api.ctx, { everything: false });
  async function suspendAndResume({ driverId }: GatewayDriver): Promise<void> {
    await suspendDriver(driverId);
    await resumeDriver(driverId);
  }

  it('a resumed driver keeps a ride that is accepted after the resume', async () => {
    const place = somewhere();
    const driver = await newGatewayDriver(api, { at: place });
    await suspendAndResume(driver);
    await driver.post('/me/online', place);
    const rideId = await openRide(place);
    expect((await accept(rideId, await offerBy(driver, rideId))).status).to.equal(200);
    await sweepOnce();
    await runDispatch(api.ctx, rideId, 'driver');
    expect((await driver.get('/ride')).body.ride).to.include({ rideId, status: 'driver_arriving' });
  });

  /** Creates a driver who is on a held ride of a restored backup. */
  async function driverOnHeldRide() {
    const asked = await askedDriver();
    const { driver, rideId } = asked;
    expect((await accept(rideId, await offerBy(driver, rideId))).status).to.equal(200);
    const ride = await rides.findOne({ _id: rideId });
    await rides.replaceOne({ _id: rideId }, hold({ ...ride }, new Date()) as Ride);
    return asked;
  }

  for (const isResumed of [true, false]) {
    it(`the held ride of a driver who was suspended${isResumed ? ' and resumed' : ''} is ended after its release`, async () => {
      const { place, driver, rideId } = await driverOnHeldRide();
      await suspendDriver(driver.driverId);
      if (isResumed) {
        await resumeDriver(driver.driverId);
        expect((await driver.post('/me/online', place)).status, 'it blocks no driver').to.equal(200);
      } else await sweepOnce();
      expect((await storedRide(rideId)).status).to.equal('driver_arriving');
      await releaseRide(rideId);
      await sweepOnce();
      expect(await storedRide(rideId)).to.include({ status: 'cancelled', cancelledBy: 'driver' });
    });
  }

  it('a resumed driver keeps a ride if an offer from before the suspension is accepted after the resume', async () => {
    const { driver, rideId } = await askedDriver();
    const offerId = await offerBy(driver, rideId);
    await suspendAndResume(driver);
    expect((await accept(rideId, offerId)).status).to.equal(200);
    await sweepOnce();
    expect(await storedRide(rideId)).to.include({ status: 'driver_arriving' });
  });

  it('a resumed driver loses the ride and offers from before the suspension, and keeps later offers', async () => {
    const place = somewhere();
    const [driver, bidder] = [await newGatewayDriver(api, { at: place }), await newGatewayDriver(api, { at: place })];
    const [taken, open] = [await openRide(place), await openRide(place)];
    await accept(taken, await offerBy(driver, taken));
    const earlier = await offerBy(bidder, open);
    await suspendAndResume(driver);
    await suspendAndResume(bidder);
    await bidder.post('/me/online', place);
    const next = await openRide(place);
    const later = await offerBy(bidder, next);
    await sweepOnce();
    expect(await storedRide(taken)).to.include({ status: 'cancelled', cancelledBy: 'driver' });
    const liveOffers = async (rideId: string) =>
      (await storedRide(rideId)).offers.flatMap(({ offerId, withdrawnAt }) => (withdrawnAt ? [] : offerId));
    expect(await liveOffers(open)).not.to.include(earlier);
    expect(await liveOffers(next)).to.deep.equal([later]);
  });

  it('a resumed driver is offline, and available after going online', async () => {
    const place = somewhere();
    const driver = await newGatewayDriver(api, { at: place });
    await openRide(place);
    await suspendAndResume(driver);
    expect((await driver.get('/me')).body.available).to.equal(false);
    expect((await driver.post('/me/online', place)).body).to.deep.equal({ available: true });
    await sweepOnce();
    expect((await driver.get('/me')).body.available).to.equal(true);
    expect(await positions.findOne({ _id: driver.driverId })).to.include({ isOnline: true, available: true });
  });

  it('a late goOffline by a sweep from before the resume does not put the driver offline', async () => {
    const driver = await newGatewayDriver(api, { at: somewhere() });
    await suspendDriver(driver.driverId);
    const counts = (await readCounts(driver.driverId)) ?? {};
    await resumeDriver(driver.driverId);
    expect((await driver.post('/me/online', somewhere())).body).to.deep.equal({ available: true });
    await goOffline(driver.driverId, counts);
    expect((await driver.get('/me')).body.available).to.equal(true);
  });

  it('a driver who is suspended again during settleDriver stays marked for the next sweep', async () => {
    const driver = await newGatewayDriver(api, { at: somewhere() });
    await suspendDriver(driver.driverId);
    onceInsteadOf(drivers, 'updateOne', async (...args) => {
      await suspendDriver(driver.driverId);
      return Reflect.apply(drivers.updateOne, drivers, args);
    });
    await settleDriver(api.ctx, driver.driverId);
    expect(await drivers.findOne({ _id: driver.driverId })).to.have.property('leavesSince');
  });

  it('a resumed driver has nothing left to settle after the next sweep', async () => {
    const place = somewhere();
    const driver = await newGatewayDriver(api, { at: place });
    await offerBy(driver, await openRide(place));
    await suspendAndResume(driver);
    await sweepOnce();
    const stored = await drivers.findOne({ _id: driver.driverId });
    expect(stored).not.to.have.any.keys('leavesSince', 'left', 'suspendedAt');
  });

  it('noteRide never replaces a newer ride of the driver, whatever the clocks show', async () => {
    const { driverId } = await newGatewayDriver(api, { at: somewhere() });
    const before = (await readCounts(driverId)) ?? {};
    expect(await noteRide(driverId, 'ride_newer', before)).to.equal(true);
    expect(await noteRide(driverId, null, before)).to.equal(false);
    expect(await positions.findOne({ _id: driverId })).to.include({ rideId: 'ride_newer', available: false });
  });

  it('going online keeps the ride of the driver', async () => {
    const { driverId } = await newGatewayDriver(api, { at: somewhere() });
    await noteRide(driverId, 'ride_of_the_driver', (await readCounts(driverId)) ?? {});
    await goOnline({ driverId, ...person }, somewhere(), new Date(api.ctx.now()));
    expect(await positions.findOne({ _id: driverId })).to.include({ rideId: 'ride_of_the_driver', available: false });
  });
});
