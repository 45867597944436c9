import { expect } from 'chai';
import { type ErrorCode, publicErrorOf } from '../../shared/base/errors.ts';
import { keys } from '../../shared/keys/api-key.ts';
import { suspendAccount } from '../../shared/keys/suspend-account.ts';
import { rides } from '../../shared/rides/ride.ts';
import { type Answer, call } from '../support/client.ts';
import { signedIn } from '../support/dashboard.ts';
import { newGatewayDriver } from '../support/drivers.ts';
import { database, failOnce } from '../support/failing-mongo.ts';
import { usePartner, useTestApi } from '../support/service.ts';

const secret = 'sEcReT-detail';

describe('form of errors', () => {
  const api = useTestApi();
  const partner = usePartner(api, 'live');

  function expectErrorForm({ status, body, headers, text }: Answer) {
    expect(Object.keys(body)).to.deep.equal(['error']);
    expect(body.error).to.be.a('string').and.not.equal('');
    expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
    expect(publicErrorOf(headers.get('x-service-error') as ErrorCode).status).to.equal(status);
    expect(headers.get('cache-control')).to.equal('no-store');
    expect(headers.get('x-content-type-options')).to.equal('nosniff');
    expect(headers.get('content-security-policy')).to.equal("default-src 'none';frame-ancestors 'none'");
    expect(headers.get('strict-transport-security')).to.equal('max-age=31536000');
    expect(headers.get('x-powered-by')).to.equal(null);
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).to.deep.equal([]);
    expect(text).not.to.include(secret);
  }

  const failures: [status: number, title: string, send: () => Promise<Answer>, code: ErrorCode][] = [
    [400, 'a wrong field', () => partner.createRide({ fare: 0 }), 'invalid_request'],
    [400, 'malformed JSON', () => partner.post('/rides', '{'), 'invalid_request'],
    [401, 'no key', () => call(`${api.url}/v1/rides/x`), 'unauthorized'],
    [404, 'an unknown ride', () => partner.get('/rides/x'), 'ride_not_found'],
    [404, 'an unknown path', () => partner.get('/nothing'), 'not_found'],
    [405, 'a wrong method', () => partner.get('/rides/x/cancel'), 'method_not_allowed'],
    [413, 'a large body', () => partner.createRide({ filler: 'x'.repeat(20_000) }), 'payload_too_large'],
  ];
  for (const [status, title, send, code] of failures) {
    it(`${title} answers ${status} in the common error form, with the code ${code}`, async () => {
      const answer = await send();
      expect(answer.status).to.equal(status);
      expect(answer.headers.get('x-service-error')).to.equal(code);
      expectErrorForm(answer);
    });
  }

  it('a 400 names the field of its text, and all invalid fields with their codes', async () => {
    const { headers, body } = await partner.createRide({
      pickup: { lng: 'x' },
      fare: 0,
      carType: 'tank',
      reference: 'r'.repeat(65),
      metadata: { 'é\n': 'x'.repeat(5_000) },
      passenger: 5,
      needs: ['boat'],
    });
    const faults: { field: string; code: string; message: string }[] = JSON.parse(
      headers.get('x-service-errors') ?? '',
    );
    expect(headers.get('x-service-error-field')).to.equal(faults[0]?.field);
    expect(faults[0]?.message).to.equal(body.error);
    expect(faults.map(({ field, code }) => [field, code])).to.deep.include.members([
      ['pickup.lat', 'missing'],
      ['pickup.lng', 'wrong_type'],
      ['fare', 'out_of_range'],
      ['carType', 'not_allowed'],
      ['reference', 'wrong_length'],
      ['passenger', 'wrong_type'],
      ['needs[0]', 'not_allowed'],
    ]);
  });

  it('the code of an invalid field is that of its fault: a form, a size or a length is no wrong type', async () => {
    const faultOf = ({ headers }: Answer) => {
      const [{ field, code, message }] = JSON.parse(headers.get('x-service-errors') ?? '');
      return [field, code, message];
    };
    const range = 'must be between -9007199254740991 and 9007199254740991';
    for (const [answer, fault] of [
      [partner.get('/rides?cursor=x'), ['cursor', 'invalid', 'cursor must be the nextCursor of an earlier answer']],
      [partner.get('/events?after=x'), ['after', 'invalid', 'after must be the cursor of an earlier answer, or now']],
      [partner.get('/usage?to=2026-02-30'), ['to', 'invalid', 'to must be a day, such as 2026-11-05']],
      [partner.createRide({ distanceKm: 1e300 }), ['distanceKm', 'out_of_range', `distanceKm ${range}`]],
      [
        partner.createRide({ webhookUrl: `https://partner.example/${'x'.repeat(2_048)}` }),
        ['webhookUrl', 'wrong_length', 'webhookUrl must not be longer than 2,048 characters'],
      ],
      [partner.post('/rides/x/messages', { text: '' }), ['text', 'wrong_length', 'text is not allowed to be empty']],
    ] as const) {
      expect(faultOf(await answer)).to.deep.equal(fault);
    }
  });

  it('the headers of a 400 have at most ten fields, in ASCII, and are absent without an invalid field', async () => {
    const names = Array.from({ length: 20 }, (_, index) => [`é${index}${'n'.repeat(300)}`, index]);
    const { headers } = await partner.createRide({ metadata: Object.fromEntries(names) });
    const list = headers.get('x-service-errors') ?? '';
    expect(list).to.match(/^[\x20-\x7e]+$/);
    expect(JSON.parse(list).length).to.be.within(1, 10);
    const malformed = await partner.post('/rides', '{');
    expect([...malformed.headers.keys()]).not.to.include.members(['x-service-errors']);
    expect(malformed.headers.get('x-service-error-field')).to.equal(null);
  });

  it('every error has a code, in every part of the service, on pages and on unknown paths', async () => {
    const visitor = await signedIn(api);
    const suspended = await signedIn(api);
    await suspendAccount(suspended.account._id);
    const driver = { authorization: `Bearer ${(await newGatewayDriver(api)).key}` };
    const asked: [code: string, path: string, init?: RequestInit][] = [
      ['not_found', '/nothing'],
      ['not_found', '/%'],
      ['method_not_allowed', '/healthz', { method: 'POST' }],
      ['unauthorized', '/drivers/v1/me'],
      ['unauthorized', '/drivers/v1/nothing'],
      ['ride_not_found', '/drivers/v1/requests/x', { headers: driver }],
      ['link_not_found', '/track/x'],
      ['not_found', '/docs/nothing'],
      ['method_not_allowed', '/docs', { method: 'POST' }],
      ['not_found', '/assets/nothing.js'],
      ['not_found', '/dashboard/nothing'],
      ['unauthorized', '/drive/api/me'],
      ['foreign_change', '/dashboard/keys', { method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } }],
      ['not_found', '/ops/queues'],
    ];
    for (const [code, path, init] of asked) {
      const { status, headers } = await fetch(api.url + path, { redirect: 'manual', ...init });
      expect(status, path).to.be.at.least(400);
      expect(headers.get('x-service-error'), path).to.equal(code);
    }
    const codes = [
      (await visitor.get('/dashboard/keys/key_x')).headers.get('x-service-error'),
      (await visitor.post('/dashboard/keys', { name: '', mode: 'test' })).headers.get('x-service-error'),
      (await suspended.post('/dashboard/keys', { name: 'a', mode: 'test' })).headers.get('x-service-error'),
      (await visitor.get('/dashboard')).headers.get('x-service-error'),
    ];
    expect(codes).to.deep.equal(['not_found', 'invalid_request', 'account_suspended', null]);
  });

  const unknownError = () => new Error(`E11000 ${secret} { fare: 25 }`);
  const operations: [title: string, collection: () => object, method: string, send: (id: string) => Promise<Answer>][] =
    [
      ['the read of the key', () => keys, 'find', () => partner.get('')],
      ['the insert', database, 'command', () => partner.createRide()],
      ['the read of a ride', () => keys, 'aggregate', (id) => partner.get(`/rides/${id}`)],
      ['the read of offers', () => keys, 'aggregate', (id) => partner.get(`/rides/${id}/offers`)],
      ['the read before accept', () => rides, 'find', (id) => partner.post(`/rides/${id}/accept`, { offerId: 'x' })],
      ['the write of cancel', () => rides, 'updateOne', (id) => partner.post(`/rides/${id}/cancel`)],
    ];
  for (const [title, collection, method, send] of operations) {
    it(`the API answers 500 without internal details when ${title} fails, and serves the next request`, async () => {
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

  const requestIdFor = async (given: string) =>
    (await partner.get('', { 'x-request-id': given })).headers.get('x-request-id');

  it("the client's request id is kept if it has 8 to 64 letters, digits, dashes and underscores", async () => {
    for (const given of ['order-17_A', '12345678', 'x'.repeat(64)]) expect(await requestIdFor(given)).to.equal(given);
  });

  it("a new request id is generated if the client's is malformed or looks like a secret", async () => {
    const refused = ['mine', 'x'.repeat(65), 'has space', 'a,bcdefgh', partner.key, `whsec_${'a'.repeat(32)}`];
    for (const given of refused) expect(await requestIdFor(given), given).to.match(/^[0-9a-f-]{36}$/);
    expect(await requestIdFor('mine')).to.not.equal(await requestIdFor('mine'));
  });

  it('no answer has CORS headers, even if a browser requests them', async () => {
    const origin = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    const preflight = await call(`${api.url}/v1/rides`, { method: 'OPTIONS', headers: origin });
    expect(preflight.status).to.equal(401);
    expectErrorForm(preflight);
    const answer = await partner.get('', origin);
    expect(answer.status).to.equal(200);
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).to.deep.equal([]);
  });
});
