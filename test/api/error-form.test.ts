import { expect } from 'chai';
import mongoose from 'mongoose';
import { keys } from '../../shared/keys/api-key.ts';
import { rides } from '../../shared/rides/ride.ts';
import { type Answer, type Client, call } from '../support/client.ts';
import { database, failOnce } from '../support/failing-mongo.ts';
import { rideIn } from '../support/rides.ts';
import { startTestApi, type TestApi } from '../support/service.ts';

const secret = 'sEcReT-detail';

describe('the form of an error', () => {
  let api: TestApi;
  let partner: Client & { key: string; keyId: string };

  before(async () => {
    api = await startTestApi();
  });
  after(() => api.close());
  beforeEach(async () => {
    partner = await api.partner('live');
  });

  function expectErrorForm({ body, headers, text }: Answer) {
    expect(Object.keys(body)).to.deep.equal(['error']);
    expect(body.error).to.be.a('string').and.not.equal('');
    expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
    expect(headers.get('cache-control')).to.equal('no-store');
    expect(headers.get('x-content-type-options')).to.equal('nosniff');
    expect(headers.get('content-security-policy')).to.equal("default-src 'none';frame-ancestors 'none'");
    expect(headers.get('strict-transport-security')).to.match(/^max-age=31536000/);
    expect(headers.get('x-powered-by')).to.equal(null);
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).to.deep.equal([]);
    expect(text).not.to.include(secret);
  }

  const failures: [status: number, title: string, send: () => Promise<Answer>][] = [
    [400, 'a wrong field', () => partner.createRide({ fare: 0 })],
    [400, 'malformed JSON', () => partner.post('/rides', '{')],
    [401, 'no key', () => call(`${api.url}/v1/rides/x`)],
    [404, 'an unknown ride', () => partner.get('/rides/x')],
    [404, 'an unknown path', () => partner.get('/nothing')],
    [405, 'a wrong method', () => partner.get('/rides/x/cancel')],
    [413, 'a large body', () => partner.createRide({ filler: 'x'.repeat(20_000) })],
  ];
  for (const [status, title, send] of failures) {
    it(`is the same for ${title} (${status})`, async () => {
      const answer = await send();
      expect(answer.status).to.equal(status);
      expectErrorForm(answer);
    });
  }

  it('is the same for a conflict (409)', async () => {
    const { rideId } = await rideIn(api.ctx, 'completed', { by: partner });
    const answer = await partner.post(`/rides/${rideId}/cancel`);
    expect(answer.status).to.equal(409);
    expectErrorForm(answer);
  });

  const unknownError = () => new Error(`E11000 ${secret} { fare: 25 }`);
  const operations: [title: string, collection: () => object, method: string, send: (id: string) => Promise<Answer>][] =
    [
      ['the look at the key', () => keys, 'find', () => partner.get('')],
      ['the insert', database, 'command', () => partner.createRide()],
      ['the read of a ride', () => keys, 'aggregate', (id) => partner.get(`/rides/${id}`)],
      ['the read of offers', () => keys, 'aggregate', (id) => partner.get(`/rides/${id}/offers`)],
      ['the read before accept', () => rides, 'find', (id) => partner.post(`/rides/${id}/accept`, { offerId: 'x' })],
      ['the write of cancel', () => rides, 'updateOne', (id) => partner.post(`/rides/${id}/cancel`)],
    ];
  for (const [title, collection, method, send] of operations) {
    it(`is a 500 that tells nothing where ${title} fails, and the next request is served`, async () => {
      const { rideId } = (await partner.createRide()).body;
      failOnce(collection(), method, unknownError());
      const failed = await send(rideId);
      expect(failed.status).to.equal(500);
      expectErrorForm(failed);
      expect(failed.text).not.to.match(/E11000|mongo|stack|\.ts|at /i);
      const next = await partner.get(`/rides/${rideId}`);
      expect(next.body.status).to.equal('bidding');
    });
  }

  it('is a 503 in the same form where MongoDB is away, and says when to try again', async () => {
    const { rideId } = (await partner.createRide()).body;
    failOnce(keys, 'aggregate', new mongoose.mongo.MongoNetworkError(`connect to ${secret}:27017 failed`));
    const answer = await partner.get(`/rides/${rideId}`);
    expect(answer.status).to.equal(503);
    expectErrorForm(answer);
    expect(Number(answer.headers.get('retry-after'))).to.be.at.least(1);
  });

  const requestIdFor = async (given: string) =>
    (await partner.get('', { 'x-request-id': given })).headers.get('x-request-id');

  it("keeps the client's request id where it has 8 to 64 letters, digits, dashes and underscores", async () => {
    for (const given of ['order-17_A', '12345678', 'x'.repeat(64)]) expect(await requestIdFor(given)).to.equal(given);
  });

  it('gives an answer a request id of its own where the client sends none that may be kept', async () => {
    const refused = ['mine', 'x'.repeat(65), 'has space', 'a,bcdefgh', partner.key, `whsec_${'a'.repeat(32)}`];
    for (const given of refused) expect(await requestIdFor(given), given).to.match(/^[0-9a-f-]{36}$/);
    expect(await requestIdFor('mine')).to.not.equal(await requestIdFor('mine'));
  });

  it('has no CORS headers, also where a browser asks for them', async () => {
    const origin = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    const preflight = await call(`${api.url}/v1/rides`, { method: 'OPTIONS', headers: origin });
    expect(preflight.status).to.equal(401);
    expectErrorForm(preflight);
    const answer = await partner.get('', origin);
    expect(answer.status).to.equal(200);
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).to.deep.equal([]);
  });
});
