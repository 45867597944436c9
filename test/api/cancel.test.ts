import { expect } from 'chai';
import { rides } from '../../shared/rides/ride.ts';
import { call } from '../support/client.ts';
import { rideIn } from '../support/rides.ts';
import { usePartner, useTestApi } from '../support/service.ts';

describe('POST /rides/:rideId/cancel', () => {
  const api = useTestApi();
  const partner = usePartner(api);

  for (const [mode, status] of [
    ['live', 'bidding'],
    ['live', 'in_progress'],
    ['test', 'driver_arriving'],
  ] as const) {
    it(`cancelling a ${mode} ride in status ${status} answers 200 and sends one event`, async () => {
      const partner = await api.partner(mode);
      const { rideId } = await rideIn(api.ctx, status, { by: partner });
      const before = await rides.findOne({ _id: rideId });
      const answer = await partner.post(`/rides/${rideId}/cancel`);
      expect(answer.status).to.equal(200);
      expect(answer.body).to.deep.equal({ success: true, rideId, status: 'cancelled' });
      const ride = await rides.findOne({ _id: rideId });
      expect(ride).to.include({ status: 'cancelled', cancelledBy: 'partner', seq: (before?.seq ?? 0) + 1 });
    });
  }

  it('one of 20 concurrent cancels answers 200, the others answer 409', async () => {
    const { rideId } = await rideIn(api.ctx, 'arrived', { by: partner });
    const answers = await Promise.all(Array.from({ length: 20 }, () => partner.post(`/rides/${rideId}/cancel`)));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, ...Array(19).fill(409)]);
  });

  for (const [title, body, headers] of [
    ['malformed JSON', '{"nope', {}],
    ['an array', '[]', {}],
    ['a body that names another actor', '{"by":"driver","cancelledBy":"driver"}', {}],
    ['another content type', 'x=1', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['an unknown encoding', 'x', { 'content-encoding': 'snappy' }],
    ['an empty body with a content type', '', {}],
    ['a body of 1 MB', 'x'.repeat(1_000_000), {}],
  ] as const) {
    it(`cancel ignores ${title}`, async () => {
      const { rideId } = (await partner.createRide()).body;
      const answer = await call(`${api.url}/v1/rides/${rideId}/cancel`, {
        method: 'POST',
        headers: { 'x-api-key': partner.key, 'content-type': 'application/json', ...headers },
        body,
      });
      expect(answer.status).to.equal(200);
      expect((await rides.findOne({ _id: rideId }))?.cancelledBy).to.equal('partner');
    });
  }
});
