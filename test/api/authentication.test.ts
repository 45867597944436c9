import { expect } from 'chai';
import { isWellFormedKey, newApiKey } from '../../shared/keys/key-format.ts';
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
      const filled = Object.entries(headers).map(([name, value]) => [name, value.replace('KEY', key)]);
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

/** Swaps the first two neighbouring characters of the secret that differ. */
function swapped(key: string): string {
  for (let i = 9; i < key.length - 1; i++) {
    const [a = '', b = ''] = [key[i], key[i + 1]];
    if (a !== b) return key.slice(0, i) + b + a + key.slice(i + 2);
  }
  return key;
}
