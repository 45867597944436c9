import { expect } from 'chai';
import { poolNames } from '../../shared/base/queues.ts';
import { rides } from '../../shared/rides/ride.ts';
import { chargesOf } from '../support/charges.ts';
import type { Answer, Client } from '../support/client.ts';
import { useTestApi } from '../support/service.ts';

const unknownToDns = `https://${'a'.repeat(64)}.example/`;

/** Every kind of creation that is refused, with its status. */
const refusals: [title: string, status: number, send: (partner: Client) => Promise<Answer>][] = [
  ['a missing fare', 400, (partner) => partner.createRide({ fare: undefined })],
  ['a wrong optional field', 400, (partner) => partner.createRide({ passengerCount: 8 })],
  ['a blocked webhookUrl', 400, (partner) => partner.createRide({ webhookUrl: 'https://127.0.0.1/' })],
  ['a webhookUrl that DNS does not allow', 400, (partner) => partner.createRide({ webhookUrl: unknownToDns })],
  ['malformed JSON', 400, (partner) => partner.post('/rides', '{')],
  ['an array', 400, (partner) => partner.post('/rides', [])],
  ['another content type', 400, (partner) => partner.createRide({}, { 'content-type': 'text/plain' })],
  ['an unknown scenario', 400, (partner) => partner.createRide({}, { 'x-service-test-scenario': 'nope' })],
  ['a wrong Idempotency-Key', 400, (partner) => partner.createRide({}, { 'idempotency-key': 'a b' })],
  ['a body that is too large', 413, (partner) => partner.createRide({ filler: 'x'.repeat(20_000) })],
  ['a wrong key', 401, (partner) => partner.createRide({}, { authorization: 'Bearer svc_test_nope' })],
];

describe('POST /rides: refused creations', () => {
  const api = useTestApi();

  const jobs = async () => {
    const counts = await Promise.all(poolNames.map((pool) => api.ctx.queues[pool].getJobCountByTypes()));
    return counts.reduce((sum, count) => sum + count, 0);
  };

  for (const [title, status, send] of refusals) {
    it(`a creation refused for ${title} (${status}) leaves no ride, no charge and no job`, async () => {
      const partner = await api.partner();
      const [ridesBefore, jobsBefore] = [await rides.countDocuments({}), await jobs()];
      const answer = await send(partner);
      expect(answer.status).to.equal(status);
      expect(answer.headers.get('ratelimit')).to.equal(null);
      expect(await rides.countDocuments({})).to.equal(ridesBefore);
      expect(await chargesOf(api.ctx, partner.keyId)).to.equal(0);
      expect(await jobs()).to.equal(jobsBefore);
    });
  }
});
