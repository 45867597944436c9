import { expect } from 'chai';
import { fireTimer } from '../support/fire-timer.ts';
import { newRide, rideIn } from '../support/rides.ts';
import { useTestApi } from '../support/service.ts';
import { makeDue, storedRide } from '../support/stored-rides.ts';

describe('origin of changes to a ride', () => {
  const api = useTestApi();

  const originsOf = async (rideId: string) =>
    (await storedRide(rideId)).events.map(({ by, requestId }) => ({ by, requestId }));

  it('the creation, accept and cancel of a partner are stored with `partner` and the id of the request', async () => {
    const partner = await api.partner('live');
    const { rideId, offerId } = await rideIn(api.ctx, 'bidding', { by: partner });
    const accepted = await partner.post(`/rides/${rideId}/accept`, { offerId });
    const cancelled = await partner.post(`/rides/${rideId}/cancel`, undefined, { 'x-request-id': 'desk-4711' });
    expect(cancelled.headers.get('x-request-id')).to.equal('desk-4711');
    expect((await storedRide(rideId)).origin).to.have.property('by', 'partner');
    expect((await storedRide(rideId)).origin?.requestId).to.match(/^[0-9a-f-]{36}$/);
    expect((await originsOf(rideId)).slice(1)).to.deep.equal([
      { by: 'partner', requestId: accepted.headers.get('x-request-id') },
      { by: 'partner', requestId: cancelled.headers.get('x-request-id') },
    ]);
  });

  it('changes by the simulator and by timeout are stored with their origin and without a request id', async () => {
    const simulated = await newRide(api.ctx, { mode: 'test' });
    await makeDue(simulated, 'offer');
    await fireTimer(api.ctx, simulated, 'offer');
    expect(await originsOf(simulated)).to.deep.equal([{ by: 'simulator', requestId: undefined }]);

    const { rideId: expired } = await rideIn(api.ctx, 'bidding');
    await makeDue(expired, 'expire');
    await fireTimer(api.ctx, expired, 'expire');
    expect((await originsOf(expired)).at(-1)).to.deep.equal({ by: 'timeout', requestId: undefined });
  });
});
