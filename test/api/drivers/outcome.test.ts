import { expect } from 'chai';
import type { Client } from '../../support/client.ts';
import { type GatewayDriver, newGatewayDriver, runDispatch, somewhere } from '../../support/drivers.ts';
import { useTestApi } from '../../support/service.ts';

describe('GET /requests/:rideId', () => {
  const api = useTestApi();
  let partner: Client;
  before(async () => {
    partner = await api.partner('live');
  });

  async function openRide() {
    const pickup = somewhere();
    const [first, second] = [
      await newGatewayDriver(api, { at: pickup }),
      await newGatewayDriver(api, { at: pickup }),
    ] as const;
    const { rideId } = (await partner.createRide({ pickup })).body;
    await runDispatch(api.ctx, rideId);
    return { rideId, first, second };
  }
  const outcome = async (driver: GatewayDriver, rideId: string) => (await driver.get(`/requests/${rideId}`)).body;
  const chosen = async (driver: GatewayDriver, rideId: string) => {
    const { offerId } = (await driver.post(`/requests/${rideId}/offers`, { price: 20, etaMinutes: 5 })).body;
    await partner.post(`/rides/${rideId}/accept`, { offerId });
  };

  it('the chosen driver sees the outcome `chosen`, then `completed`; the others only see `other_driver`', async () => {
    const { rideId, first, second } = await openRide();
    expect(await outcome(first, rideId)).to.deep.equal({ rideId, outcome: 'open' });
    await chosen(first, rideId);
    expect(await outcome(first, rideId)).to.deep.equal({ rideId, outcome: 'chosen' });
    expect(await outcome(second, rideId)).to.deep.equal({ rideId, outcome: 'other_driver' });
    for (const step of ['arrive', 'start', 'complete']) await first.post(`/ride/${step}`, { rideId });
    expect(await outcome(first, rideId)).to.deep.equal({ rideId, outcome: 'completed' });
    expect(await outcome(second, rideId)).to.deep.equal({ rideId, outcome: 'other_driver' });
  });

  it('the outcome of a cancelled ride has cancelledBy, except for drivers who were not chosen', async () => {
    const open = await openRide();
    await partner.post(`/rides/${open.rideId}/cancel`);
    const byPartner = { outcome: 'cancelled', cancelledBy: 'partner' };
    expect(await outcome(open.second, open.rideId)).to.deep.equal({ rideId: open.rideId, ...byPartner });
    const { rideId, first, second } = await openRide();
    await chosen(first, rideId);
    await first.post('/ride/cancel', { rideId });
    expect(await outcome(first, rideId)).to.deep.equal({ rideId, outcome: 'cancelled', cancelledBy: 'driver' });
    expect(await outcome(second, rideId)).to.deep.equal({ rideId, outcome: 'other_driver' });
  });

  it('the outcome is a 404 for a driver who was not asked, and for an unknown ride', async () => {
    const { rideId, first } = await openRide();
    expect((await (await newGatewayDriver(api)).get(`/requests/${rideId}`)).status).to.equal(404);
    expect((await first.get('/requests/ride_unknown')).status).to.equal(404);
  });
});
