import { expect } from 'chai';
import { useDriverRides } from '../../support/driver-rides.ts';
import { type GatewayDriver, newGatewayDriver } from '../../support/drivers.ts';

describe('GET /requests/:rideId', () => {
  const { api, partner, offerBy, accept, askedDrivers } = useDriverRides();

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
});
