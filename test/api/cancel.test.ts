import { expect } from 'chai';
import { rides } from '../../shared/rides/ride.ts';
import { call } from '../support/client.ts';
import { rideIn } from '../support/rides.ts';
import { usePartner, useTestApi } from '../support/service.ts';

describe('POST /rides/:rideId/cancel', () => {
  const api = useTestApi();
  const partner = usePartner(api);

  for (const mode of ['live', 'test'] as const) {
    for (const status of ['bidding', 'driver_arriving', 'arrived', 'in_progress'] as const) {
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
  }

  for (const status of ['completed', 'cancelled'] as const) {
    it(`cancelling a ${status} ride answers 409 and changes nothing`, async () => {
      const { rideId } = await rideIn(api.ctx, status, { by: partner });
      const before = await rides.findOne({ _id: rideId });
      const answer = await partner.post(`/rides/${rideId}/cancel`);
      expect(answer.status).to.equal(409);
      expect(answer.body).to.have.all.keys('error');
      expect(await rides.findOne({ _id: rideId })).to.deep.equal(before);
    });
  }

  it('one of 20 concurrent cancels answers 200, the others answer 409', async () => {
    const { rideId } = await rideIn(api.ctx, 'arrived', { by: partner });
    const answers = await Promise.all(Array.from({ length: 20 }, () => partner.post(`/rides/${rideId}/cancel`)));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, ...Array(19).fill(409)]);
  });

  it('a ride whose bidding time is over can be cancelled', async () => {
    const { rideId } = await rideIn(api.ctx, 'bidding', { by: partner });
    await rides.updateOne({ _id: rideId }, { $set: { biddingEndsAt: new Date(0) } });
    expect((await partner.post(`/rides/${rideId}/cancel`)).status).to.equal(200);
  });

  for (const [title, body, headers] of [
    ['malformed JSON', '{"nope', { 'content-type': 'application/json' }],
    ['an array', '[]', { 'content-type': 'application/json' }],
    [
      'a body that names another actor',
      '{"by":"driver","cancelledBy":"driver"}',
      { 'content-type': 'application/json' },
    ],
    ['another content type', 'x=1', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['an unknown encoding', 'x', { 'content-type': 'application/json', 'content-encoding': 'snappy' }],
    ['an empty body with a content type', '', { 'content-type': 'application/json' }],
    ['a body of 1 MB', 'x'.repeat(1_000_000), { 'content-type': 'application/json' }],
  ] as const) {
    it(`cancel ignores ${title}`, async () => {
      const { rideId } = (await partner.createRide()).body;
      const answer = await call(`${api.url}/v1/rides/${rideId}/cancel`, {
        method: 'POST',
        headers: { 'x-api-key': partner.key, ...headers },
        body,
      });
      expect(answer.status).to.equal(200);
      expect((await rides.findOne({ _id: rideId }))?.cancelledBy).to.equal('partner');
    });
  }
});
