import { expect } from 'chai';
import { createApp } from '../../../api/app.ts';
import { serve } from '../../../api/http/serve.ts';
import { driverSessions } from '../../../shared/drivers/driver.ts';
import { revokeDriver, rotateDriverKey, suspendDriver } from '../../../shared/drivers/manage-drivers.ts';
import { readPosition } from '../../../shared/drivers/positions.ts';
import { newDriverKey } from '../../../shared/keys/key-format.ts';
import { resumeDriver } from '../../../shared/rides/driver/settle-driver.ts';
import { call } from '../../support/client.ts';
import { newGatewayDriver, somewhere } from '../../support/drivers.ts';
import { type EventStream, useEventStreams } from '../../support/event-stream.ts';
import { withLogLines } from '../../support/log-lines.ts';
import { textOf } from '../../support/pages.ts';
import { type PlainBrowser, plainBrowser, randomAddress } from '../../support/plain-browser.ts';
import { useTestApi } from '../../support/service.ts';

describe("a session on the driver's page", () => {
  // Each browser has its own client address, because the limit counts by address.
  const api = useTestApi({ TRUSTED_PROXY_HOPS: '1' });
  const open = useEventStreams();

  async function enter(key: string, browser = plainBrowser(api)): Promise<PlainBrowser> {
    await browser.get('/drive');
    await browser.press('Sign in', { key });
    return browser;
  }
  async function signedIn() {
    const driver = await newGatewayDriver(api, { at: somewhere() });
    return { ...driver, browser: await enter(driver.key) };
  }
  const cookieOf = ({ cookies }: PlainBrowser) => [...cookies].map((pair) => pair.join('=')).join('; ');
  const data = (browser: PlainBrowser, path: string, init: RequestInit = {}) =>
    call(`${api.url}/drive/api${path}`, {
      ...init,
      headers: { cookie: cookieOf(browser), 'sec-fetch-site': 'same-origin', ...init.headers },
    });
  const isSignedIn = async (browser: PlainBrowser) => (await data(browser, '/me')).status === 200;
  async function following(browser: PlainBrowser): Promise<EventStream> {
    const stream = await open(`${api.url}/drive/api/stream`, { cookie: cookieOf(browser) });
    expect(await stream.next()).to.deep.equal({ requests: [] });
    expect(await stream.next()).to.deep.equal({ ride: null });
    return stream;
  }

  it('sign-in with the driver key opens the page and the routes of the gateway', async () => {
    const { browser, driverId } = await signedIn();
    expect(browser.page).to.include({ status: 200, path: '/drive' });
    expect(textOf(browser.page.html)).to.include('Dana Okoye').and.include('Go online');
    expect((await data(browser, '/me')).body).to.include({ driverId, available: true });
    expect((await data(browser, '/requests')).body).to.deep.equal({ requests: [] });
    expect((await data(browser, '/me/offline', { method: 'POST' })).body).to.deep.equal({ available: false });
  });

  it('sign-in finds the key in whatever text a phone copied from a message', async () => {
    const { key } = await newGatewayDriver(api);
    const [half, rest] = [key.slice(0, 20), key.slice(20)];
    for (const pasted of [
      ` ${key}\n`,
      `${key}\u200b`,
      `\u2068${key}\u2069`,
      `${half}\n${rest}`,
      `Hi Dana, your key: “${key}”. See you!`,
      // A browser removes the line break before the address.
      `${key}https://rides.example/drive`,
    ]) {
      const browser = await enter(pasted);
      expect(browser.page, JSON.stringify(pasted)).to.include({ status: 200, path: '/drive' });
    }
  });

  it('sign-in refuses unknown keys, keys of suspended drivers and partner keys, without showing the key', async () => {
    const suspended = await newGatewayDriver(api);
    await suspendDriver(suspended.driverId);
    const partner = await api.partner('live');
    for (const key of [newDriverKey(), suspended.key, partner.key, '', '{"$gt":""}']) {
      const browser = await enter(key);
      expect(browser.page).to.include({ status: 200, path: '/drive?wrong' });
      expect(textOf(browser.page.html)).to.include('This key does not work');
      if (key) expect(browser.page.html).not.to.include(key);
      expect(cookieOf(browser)).to.equal('');
    }
  });

  it('the session token has 256 bits in an HttpOnly cookie; MongoDB stores neither token nor key', async () => {
    const { key } = await newGatewayDriver(api);
    const answer = await fetch(`${api.url}/drive/sign-in`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': '198.51.100.1' },
      body: new URLSearchParams({ key }),
    });
    expect([answer.status, answer.headers.get('location')]).to.deep.equal([303, '/drive']);
    const [line = ''] = answer.headers.getSetCookie();
    expect(line).to.match(/^driver_session=[\w-]{43}; path=\/;.*samesite=lax; httponly$/i);
    const token = /^driver_session=([^;]+)/.exec(line)?.[1] ?? '';
    expect(Buffer.from(token, 'base64url')).to.have.length(32);
    const stored = JSON.stringify(await driverSessions.model.find({}).lean());
    expect(stored).not.to.include(token).and.not.to.include(key);
  });

  it('in production, the session cookie is bound to this host and to HTTPS', async () => {
    const config = { ...api.ctx.config, environment: 'production', trustedProxyHops: 1 } as const;
    const server = await serve(api.ctx, createApp({ ...api.ctx, config }));
    try {
      const [url, { key }] = [`http://127.0.0.1:${server.port}`, await newGatewayDriver(api)];
      const over = (scheme: string) => ({ 'sec-fetch-site': 'same-origin', 'x-forwarded-proto': scheme });
      const body = new URLSearchParams({ key });
      const { headers } = await fetch(`${url}/drive/sign-in`, {
        method: 'POST',
        redirect: 'manual',
        headers: over('https'),
        body,
      });
      expect(headers.getSetCookie()[0]).to.match(/^__Host-driver_session=[\w-]{43}; path=\/;.*secure; httponly$/i);
      const plain = await fetch(`${url}/drive`, { redirect: 'manual', headers: over('http') });
      expect([plain.status, plain.headers.get('location')]).to.deep.equal([308, 'https://rides.example/drive']);
      expect((await fetch(`${url}/drive/api/me`, { headers: over('http') })).status).to.equal(403);
    } finally {
      await server.close();
    }
  });

  it('no driver key is written to a URL, cookie, page or log', async () => {
    const logged = withLogLines(api.ctx);
    const server = await serve(logged.ctx, createApp(logged.ctx));
    try {
      const { key } = await newGatewayDriver(api);
      const browser = plainBrowser({ url: `http://127.0.0.1:${server.port}` });
      const wrong = newDriverKey();
      for (const typed of [wrong, key]) {
        await enter(typed, browser);
        expect(browser.page.path + cookieOf(browser) + browser.page.html).not.to.include(typed);
      }
      expect(textOf(browser.page.html)).to.include('Dana Okoye');
      const log = JSON.stringify(logged.lines);
      expect(log).to.include('/drive/sign-in').and.not.to.include(key).and.not.to.include(wrong);
      expect(log).not.to.include(browser.cookies.get('driver_session'));
    } finally {
      await server.close();
    }
  });

  for (const [name, end] of [
    ['the key is rotated', rotateDriverKey],
    ['the driver is revoked', revokeDriver],
    [
      'the driver is suspended, also after a resumption',
      async (driverId: string) => {
        await suspendDriver(driverId);
        await resumeDriver(driverId);
      },
    ],
  ] as const) {
    it(`a session and its stream end when ${name}`, async () => {
      const { browser, driverId } = await signedIn();
      const stream = await following(browser);
      await end(driverId);
      expect(await isSignedIn(browser)).to.equal(false);
      expect(textOf((await browser.get('/drive')).html)).to.include('Sign in to drive');
      expect(await stream.next()).to.equal(null);
    });
  }

  it('a session does not work while its driver is suspended, even if it was not ended', async () => {
    const { browser, driverId } = await signedIn();
    const kept = await driverSessions.model.find({ driverId }).lean();
    await suspendDriver(driverId);
    await driverSessions.model.insertMany(kept);
    expect(await isSignedIn(browser)).to.equal(false);
  });

  it('a session ends when another driver signs in in the same browser', async () => {
    const { browser } = await signedIn();
    const before = plainBrowser(api);
    for (const [name, value] of browser.cookies) before.cookies.set(name, value);
    await browser.post('/drive/sign-in', { key: (await newGatewayDriver(api)).key });
    expect([await isSignedIn(browser), await isSignedIn(before)]).to.deep.equal([true, false]);
  });

  it('sign-out ends the session and its stream, but no other session, and sets the driver offline', async () => {
    const { browser, driverId, key } = await signedIn();
    const other = await enter(key);
    const [cookies, stream] = [new Map(browser.cookies), await following(browser)];
    await browser.press('Sign out');
    expect(cookieOf(browser)).to.equal('');
    expect(await isSignedIn({ ...browser, cookies })).to.equal(false);
    expect(await stream.next()).to.equal(null);
    expect(await isSignedIn(other)).to.equal(true);
    expect(await readPosition(driverId)).to.include({ isOnline: false });
  });

  it('changes from a page of another site are refused', async () => {
    const { browser } = await signedIn();
    const foreign: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': '', origin: 'https://evil.example' },
    ];
    for (const headers of foreign) {
      for (const [method, path] of [
        ['POST', '/me/offline'],
        ['PUT', '/me/position'],
        ['DELETE', '/requests/ride_x/offers/offer_x'],
        ['POST', '/ride/cancel'],
      ] as const) {
        const { status, body } = await data(browser, path, { method, headers });
        expect([status, Object.keys(body)], path).to.deep.equal([403, ['error']]);
      }
      for (const path of ['/drive/sign-in', '/drive/sign-out']) {
        const { status, html } = await browser.post(path, { key: 'x' }, headers);
        expect([status, html.slice(0, 15)], path).to.deep.equal([403, '<!doctype html>']);
      }
    }
    const own = { 'sec-fetch-site': '', origin: 'https://rides.example' };
    expect((await data(browser, '/me')).body).to.include({ available: true });
    expect((await data(browser, '/me/offline', { method: 'POST', headers: own })).status).to.equal(200);
  });

  it('routes of the page accept no key, and the gateway accepts no session', async () => {
    const { browser, key } = await signedIn();
    for (const path of ['/me', '/stream', '/requests', '/ride']) {
      const { status, body } = await call(`${api.url}/drive/api${path}`, { headers: { 'x-api-key': key } });
      expect({ status, body }).to.deep.equal({ status: 401, body: { error: 'Nobody is signed in here' } });
    }
    const { status } = await call(`${api.url}/drivers/v1/me`, { headers: { cookie: cookieOf(browser) } });
    expect(status).to.equal(401);
  });

  it('after 20 wrong keys in 15 minutes, a client address gets a 429 for a wrong key, also if a proxy adds its ports, but not for a correct one', async () => {
    const address = randomAddress();
    const guesser = plainBrowser(api, { address });
    const { key } = await newGatewayDriver(api);
    let port = 40_000;
    const guess = (typed: string) =>
      guesser.post('/drive/sign-in', { key: typed }, { 'x-forwarded-for': `${address}:${port++}` });
    // A sign-in with a correct key does not count towards the limit.
    await guess(key);
    const guesses = await Promise.all(Array.from({ length: 22 }, () => guess(newDriverKey())));
    expect(guesses.filter(({ status }) => status === 429)).to.have.length(2);
    const refused = await guess(newDriverKey());
    expect(refused.status).to.equal(429);
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 900);
    expect(textOf(refused.html)).to.include('Too many wrong keys').and.include('Try again in 15 minutes');
    expect((await guess(key)).status).to.equal(200);
    expect((await enter(key)).page).to.include({ status: 200, path: '/drive' });
    api.ctx.now = () => Date.now() + 15 * 60_000;
    expect((await guess(newDriverKey())).status).to.equal(200);
  });

  it('errors are HTML on routes of pages, and JSON on routes of data', async () => {
    const { browser } = await signedIn();
    for (const [path, status] of [
      ['/drive/nothing', 404],
      ['/drive/sign-in/x', 404],
    ] as const) {
      const page = await browser.get(path);
      expect([page.status, page.html.slice(0, 15)], path).to.deep.equal([status, '<!doctype html>']);
    }
    const { status, body } = await data(browser, '/nothing');
    expect({ status, body }).to.deep.equal({ status: 404, body: { error: 'Not found' } });
    expect((await data(browser, '/me', { method: 'POST' })).status).to.equal(405);
    for (const path of ['/drive/sign-in', '/drive/sign-out']) {
      await browser.get(path);
      expect(browser.page.path).to.equal('/drive');
    }
  });

  it('only the page of drivers may use the position and keep the screen on', async () => {
    const policyOf = async (path: string) => (await fetch(api.url + path)).headers.get('permissions-policy');
    expect(await policyOf('/drive')).to.equal('camera=(), geolocation=(self), microphone=(), screen-wake-lock=(self)');
    for (const path of ['/dashboard', '/track/x', '/assets/x']) {
      expect(await policyOf(path)).to.equal('camera=(), geolocation=(), microphone=(), screen-wake-lock=()');
    }
    const { headers } = await fetch(`${api.url}/drive`);
    expect(headers.get('content-security-policy')).to.include("script-src 'self';style-src 'self'");
    expect(headers.get('cache-control')).to.equal('no-store');
  });
});
