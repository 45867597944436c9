import { expect } from 'chai';
import { tripsOfDriver } from '../../../shared/rides/driver/driver-rides.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { useDriverRides } from '../../support/driver-rides.ts';
import { type GatewayDriver, newGatewayDriver, somewhere } from '../../support/drivers.ts';
import { plansOf } from '../../support/plans.ts';
import { storedRide } from '../../support/stored-rides.ts';

describe('GET /trips', () => {
  const { api, openRide, offerBy, accept, step } = useDriverRides();
  const hourMs = 3_600_000;

  /** A completed trip of the driver, which ended `hoursAgo`. */
  async function completed(driver: GatewayDriver, place: ReturnType<typeof somewhere>, price: number, hoursAgo = 0) {
    const rideId = await openRide(place);
    await accept(rideId, await offerBy(driver, rideId, price));
    for (const name of ['arrive', 'start', 'complete']) await step(driver, name, rideId);
    if (hoursAgo > 0) {
      await rides.updateOne({ _id: rideId }, { $set: { statusAt: new Date(api.ctx.now() - hoursAgo * hourMs) } });
    }
    return rideId;
  }

  it('the earnings are the completed trips since a time, without cancelled rides and other drivers', async () => {
    const place = somewhere();
    const driver = await newGatewayDriver(api, { at: place });
    expect((await driver.get('/trips?since=0')).body)
      .to.include({ trips: 0, earned: 0 })
      .and.not.have.property('last');
    await completed(driver, place, 30, 5);
    await completed(driver, place, 20.1, 2);
    const last = await completed(driver, place, 22.2);
    const given = await openRide(place);
    await accept(given, await offerBy(driver, given));
    await step(driver, 'cancel', given);
    await completed(await newGatewayDriver(api, { at: place }), place, 99);

    const since = Math.floor(api.ctx.now() - 3 * hourMs);
    const { statusAt } = await storedRide(last);
    expect((await driver.get(`/trips?since=${since}`)).body).to.deep.equal({
      since,
      trips: 2,
      earned: 42.3,
      last: { rideId: last, completedAt: statusAt.getTime(), agreedPrice: 22.2, distanceKm: 5.56 },
    });
    expect((await driver.get('/trips')).body).to.include({ trips: 3, earned: 72.3 });
  });

  it('the earnings are what the statements of the partners say: each price is rounded to cents', async () => {
    const place = somewhere();
    const driver = await newGatewayDriver(api, { at: place });
    for (const hoursAgo of [1, 0]) await completed(driver, place, 1.005, hoursAgo);
    expect((await driver.get('/trips')).body).to.include({ trips: 2, earned: 2.02 });
  });

  it('the earnings show the last trip also if it ended before the period', async () => {
    const place = somewhere();
    const driver = await newGatewayDriver(api, { at: place });
    const rideId = await completed(driver, place, 30, 48);
    const { body } = await driver.get(`/trips?since=${Math.floor(api.ctx.now())}`);
    expect(body).to.include({ trips: 0, earned: 0 });
    expect(body.last).to.include({ rideId, agreedPrice: 30 });
  });

  it('a time before the last 7 days counts as 7 days ago, and a wrong one answers 400', async () => {
    const driver = await newGatewayDriver(api);
    const { body } = await driver.get('/trips?since=1');
    expect(body.since).to.be.within(api.ctx.now() - 7 * 24 * hourMs - 10_000, api.ctx.now() - 7 * 24 * hourMs + 1_000);
    for (const since of ['yesterday', '-1', '1.5', '1e30']) {
      expect((await driver.get(`/trips?since=${since}`)).status, since).to.equal(400);
    }
  });

  it("every query for a driver's trips uses the index", async () => {
    const { driverId } = await newGatewayDriver(api);
    const plans = await plansOf(() => tripsOfDriver(driverId, new Date(0)));
    expect(plans).to.have.length(2);
    for (const { stages } of plans) {
      expect(stages)
        .to.include('driver.driverId_1_statusAt_-1')
        .and.not.match(/COLLSCAN|"SORT"/);
    }
  });
});
