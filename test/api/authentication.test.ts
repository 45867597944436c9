import { expect } from 'chai';
import { newApiKey } from '../../shared/keys/key-format.ts';
import { call } from '../support/client.ts';
import { useTestApi } from '../support/service.ts';

type Credentials = [headers: Record<string, string>, status: number, path?: string];

/** Requests with a valid key KEY, and the status that each gets. */
const credentials: Credentials[] = [
  ...['/v1', '/api/v1'].flatMap((base): Credentials[] => [
    [{ authorization: 'Bearer KEY' }, 200, base],
    [{ 'x-api-key': 'KEY' }, 200, base],
  ]),
  ...['bearer', 'BEARER', 'bEaReR'].map((scheme): Credentials => [{ authorization: `${scheme} KEY` }, 200]),
  [{ authorization: 'Bearer KEY', 'x-api-key': 'nonsense' }, 200],
  [{ authorization: 'Bearer nonsense', 'x-api-key': 'KEY' }, 401],
  [{ authorization: 'bearer nonsense', 'x-api-key': 'KEY' }, 401],
  ...['Basic dXNlcjpwYXNz', 'Digest x', 'Basic', 'BearerX', 'Token Bearer'].flatMap((authorization): Credentials[] => [
    [{ authorization, 'x-api-key': 'KEY' }, 200],
    [{ authorization }, 401],
  ]),
  // X-Api-Key is ignored beside a Bearer scheme without a token.
  ...['Bearer', 'Bearer ', 'bearer   '].map(
    (authorization): Credentials => [{ authorization, 'x-api-key': 'KEY' }, 401],
  ),
  ...['KEY, KEY', 'KEY KEY', '"KEY"', 'KEY0'].flatMap((text): Credentials[] => [
    [{ authorization: `Bearer ${text}` }, 401],
    [{ 'x-api-key': text }, 401],
  ]),
  [{ authorization: 'KEY' }, 401],
  [{ cookie: 'api_key=KEY' }, 401],
];

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

  for (const [headers, status, path = '/v1'] of credentials) {
    it(`${path} answers ${status} to ${JSON.stringify(headers)}`, async () => {
      const filled = Object.entries(headers).map(([name, value]) => [name, value.replaceAll('KEY', key)]);
      expect(await statusWith(Object.fromEntries(filled), path)).to.equal(status);
    });
  }

  it('a request with two valid keys sees only the rides of the Bearer token', async () => {
    const [mine, theirs] = [await api.partner(), await api.partner()];
    const { rideId } = (await mine.createRide()).body;
    expect((await mine.get(`/rides/${rideId}`, { 'x-api-key': theirs.key })).status).to.equal(200);
    expect((await theirs.get(`/rides/${rideId}`, { 'x-api-key': mine.key })).status).to.equal(404);
  });

  it('a key is refused as the user name or password of Basic authentication, and in the query', async () => {
    const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;
    expect(await statusWith({ authorization: basic(`${key}:`) })).to.equal(401);
    expect(await statusWith({ authorization: basic(`:${key}`) })).to.equal(401);
    expect(await statusWith({}, `/v1?api_key=${key}&access_token=${key}`)).to.equal(401);
  });

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
    expect(wrong.text).to.equal(missing.text);
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
