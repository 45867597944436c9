import { expect } from 'chai';
import { isWellFormedKey, newApiKey } from '../../shared/keys/key-format.ts';
import { revokeKey } from '../../shared/keys/manage-keys.ts';
import { rotateKey } from '../../shared/keys/replace-secret.ts';
import { call, validRide } from '../support/client.ts';
import { useTestApi } from '../support/service.ts';

const bases = ['/v1', '/api/v1'];

describe('authentication', () => {
  const api = useTestApi();
  let key: string;
  let other: string;

  before(async () => {
    key = (await api.key()).key;
    other = (await api.key()).key;
  });

  const statusWith = async (headers: Record<string, string>, path = '/v1') =>
    (await call(api.url + path, { headers })).status;

  for (const base of bases) {
    it(`the API accepts the key in either header under ${base}`, async () => {
      expect(await statusWith({ authorization: `Bearer ${key}` }, base)).to.equal(200);
      expect(await statusWith({ 'x-api-key': key }, base)).to.equal(200);
    });
  }

  for (const scheme of ['bearer', 'BEARER', 'bEaReR']) {
    it(`the API accepts the authentication scheme written as ${scheme}`, async () => {
      expect(await statusWith({ authorization: `${scheme} ${key}` })).to.equal(200);
    });
  }

  it('only the Bearer token counts if both headers are sent', async () => {
    expect(await statusWith({ authorization: `Bearer ${key}`, 'x-api-key': 'nonsense' })).to.equal(200);
    expect(await statusWith({ authorization: 'Bearer nonsense', 'x-api-key': key })).to.equal(401);
    expect(await statusWith({ authorization: 'bearer nonsense', 'x-api-key': key })).to.equal(401);
  });

  it('a request with two valid keys sees only the rides of the Bearer token', async () => {
    const [mine, theirs] = [await api.partner(), await api.partner()];
    const { rideId } = (await mine.createRide()).body;
    expect((await mine.get(`/rides/${rideId}`, { 'x-api-key': theirs.key })).status).to.equal(200);
    expect((await theirs.get(`/rides/${rideId}`, { 'x-api-key': mine.key })).status).to.equal(404);
  });

  for (const authorization of ['Basic dXNlcjpwYXNz', 'Digest x', 'Basic', 'BearerX', 'Token Bearer']) {
    it(`X-Api-Key works beside Authorization "${authorization}", which alone gets a 401`, async () => {
      expect(await statusWith({ authorization, 'x-api-key': key })).to.equal(200);
      expect(await statusWith({ authorization })).to.equal(401);
    });
  }

  for (const authorization of ['Bearer', 'Bearer ', 'bearer   ']) {
    it(`X-Api-Key is ignored if Authorization is "${authorization}" without a token`, async () => {
      expect(await statusWith({ authorization, 'x-api-key': key })).to.equal(401);
    });
  }

  it('a key is refused as the user name or password of Basic authentication', async () => {
    const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;
    expect(await statusWith({ authorization: basic(`${key}:`) })).to.equal(401);
    expect(await statusWith({ authorization: basic(`:${key}`) })).to.equal(401);
  });

  it('a key is refused in the query, in a cookie, and in Authorization without a scheme', async () => {
    expect(await statusWith({}, `/v1?api_key=${key}&access_token=${key}`)).to.equal(401);
    expect(await statusWith({ cookie: `api_key=${key}` })).to.equal(401);
    expect(await statusWith({ authorization: key })).to.equal(401);
  });

  const typos: [title: string, change: (right: string) => string][] = [
    ['one character changed', (right) => right.slice(0, 20) + (right[20] === 'a' ? 'b' : 'a') + right.slice(21)],
    ['two characters swapped', (right) => swapped(right)],
    ['its last character missing', (right) => right.slice(0, -1)],
    ['one character too many', (right) => `${right}0`],
    ['capitals', (right) => right.toUpperCase()],
    ['the prefix of the other mode', (right) => right.replace('svc_test_', 'svc_live_')],
    ['another prefix', (right) => right.replace('svc_', 'sk_')],
    ['no prefix', (right) => right.replace('svc_test_', '')],
    ['a second copy after a comma', (right) => `${right}, ${right}`],
    ['quotes', (right) => `"${right}"`],
    ['a space inside', (right) => `${right.slice(0, 20)} ${right.slice(20)}`],
  ];
  for (const [title, change] of typos) {
    it(`a key with ${title} is refused in either header`, async () => {
      expect(await statusWith({ authorization: `Bearer ${change(key)}` })).to.equal(401);
      expect(await statusWith({ 'x-api-key': change(key) })).to.equal(401);
      expect(isWellFormedKey(change(key))).to.equal(false);
    });
  }

  it('a well-formed key that was never created is refused', async () => {
    for (const mode of ['test', 'live'] as const) {
      expect(await statusWith({ 'x-api-key': newApiKey(mode) })).to.equal(401);
    }
  });

  it('a missing and a wrong key get the same 401, with the scheme Bearer in WWW-Authenticate', async () => {
    const missing = await call(`${api.url}/v1`);
    const wrong = await call(`${api.url}/v1`, { headers: { 'x-api-key': 'nope' } });
    for (const { status, headers } of [missing, wrong]) {
      expect(status).to.equal(401);
      expect(headers.get('www-authenticate')).to.match(/^Bearer/);
    }
    expect(Object.keys(missing.body)).to.deep.equal(['error']);
    expect(wrong.text).to.equal(missing.text);
  });

  it('a revoked key is refused on the next request', async () => {
    const partner = await api.partner();
    const { rideId } = (await partner.createRide()).body;
    await revokeKey(partner.keyId, 'anyone');
    expect((await partner.get(`/rides/${rideId}`)).status).to.equal(401);
    expect((await partner.createRide()).status).to.equal(401);
    expect((await partner.post(`/rides/${rideId}/cancel`)).status).to.equal(401);
  });

  it('after a rotation, the old secret is refused at once, and the new secret still sees the rides', async () => {
    const partner = await api.partner();
    const { rideId } = (await partner.createRide()).body;
    const rotated = await rotateKey(partner.keyId, 'anyone');
    expect(rotated.key)
      .to.match(/^svc_test_/)
      .and.not.equal(partner.key);
    expect((await partner.get(`/rides/${rideId}`)).status).to.equal(401);
    const ride = await call(`${api.url}/v1/rides/${rideId}`, { headers: { 'x-api-key': rotated.key } });
    expect(ride.status).to.equal(200);
  });

  it('only the key decides the mode of a ride, not the body', async () => {
    const send = async (secretKey: string) =>
      (
        await call(`${api.url}/v1/rides`, {
          method: 'POST',
          headers: { 'x-api-key': secretKey, 'content-type': 'application/json' },
          body: JSON.stringify({ ...validRide, testMode: false, mode: 'live' }),
        })
      ).body.testMode;
    const [test, live] = [await api.key('test'), await api.key('live')];
    expect(test.key).to.match(/^svc_test_/);
    expect(live.key).to.match(/^svc_live_/);
    expect(await send(test.key)).to.equal(true);
    expect(await send(live.key)).to.equal(undefined);
  });

  it('the key is checked before the body', async () => {
    const answer = await call(`${api.url}/v1/rides`, { method: 'POST', body: '{"broken' });
    expect(answer.status).to.equal(401);
    const large = await call(`${api.url}/v1/rides`, { method: 'POST', body: 'x'.repeat(50_000) });
    expect(large.status).to.equal(401);
  });

  it('no answer contains the key of its request', async () => {
    const headersOf = [{ 'x-api-key': `${other}x` }, { authorization: `Bearer ${other}x` }] as Record<string, string>[];
    for (const headers of headersOf) {
      const answer = await call(`${api.url}/v1/${other}`, { headers });
      expect(answer.text + JSON.stringify([...answer.headers])).not.to.include(other);
    }
  });
});

/** Swaps the first two neighbouring characters of the secret that differ. */
function swapped(key: string): string {
  for (let i = 9; i < key.length - 1; i++) {
    const [a = '', b = ''] = [key[i], key[i + 1]];
    if (a !== b) return key.slice(0, i) + b + a + key.slice(i + 2);
  }
  return key;
}
