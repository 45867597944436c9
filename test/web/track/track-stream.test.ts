import { expect } from 'chai';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { type EventStream, nextOf, openEventStream, useEventStreams } from '../../support/event-stream.ts';
import { textOf } from '../../support/pages.ts';
import { plansOf } from '../../support/plans.ts';
import { rawRequest, requestText } from '../../support/raw-http.ts';
import { offerOn } from '../../support/rides.ts';
import { startTestApi, useTestApi } from '../../support/service.ts';

describe('streams of live maps', () => {
  const api = useTestApi({
    MAX_STREAMS: '8',
    MAX_STREAMS_PER_CLIENT: '3',
    MAX_STREAMS_PER_RIDE: '4',
    TRUSTED_PROXY_HOPS: '1',
  });
  const openStream = useEventStreams();

  async function newRide(fields: object = {}) {
    const partner = await api.partner('test');
    const { body } = await partner.createRide(fields, { 'X-Service-Test-Scenario': 'no_offers' });
    return { partner, rideId: body.rideId as string, url: `${api.url}${new URL(body.trackUrl).pathname}` };
  }
  const open = (url: string, client = '203.0.113.1') => openStream(`${url}/events`, { 'X-Forwarded-For': client });

  it('finding the ride of a track link uses an index', async () => {
    const { url } = await newRide();
    const [plan] = await plansOf(() => fetch(`${url}/state`));
    expect(plan?.stages).to.include('IXSCAN');
  });

  it('the stream of a map sends the state and each change, ends with the ride, and then answers 204', async () => {
    const { partner, rideId, url } = await newRide();
    const stream = await open(url);
    expect(stream.headers.get('content-type')).to.match(/^text\/event-stream/);
    expect(stream.headers.get('cache-control')).to.equal('no-store, no-transform');
    expect(stream.headers.get('x-accel-buffering')).to.equal('no');
    expect(await stream.next()).to.include({ status: 'bidding' });
    const { offerId } = await offerOn(api.ctx, rideId);
    await applyAction(api.ctx, rideId, { action: 'accept', offerId }, 'anyone');
    const accepted = await stream.next();
    expect(accepted).to.include({ status: 'driver_arriving' });
    expect(accepted.driver.firstName).to.equal('Dana');
    await partner.post(`/rides/${rideId}/cancel`);
    const last = await nextOf(stream, ({ status }) => status === 'cancelled');
    expect(last).not.to.have.any.keys('position', 'leg');
    expect(await stream.next()).to.equal(null);
    expect((await open(url)).status).to.equal(204);
  });

  it('the stream of a map repeatedly sends the position of a moving car, each newer than the last', async () => {
    const { rideId, url } = await newRide();
    const { offerId } = await offerOn(api.ctx, rideId);
    await applyAction(api.ctx, rideId, { action: 'accept', offerId }, 'anyone');
    const stream = await open(url);
    const [first, second] = [await stream.next(), await stream.next()];
    expect(second.position.at).to.be.above(first.position.at);
    expect(second.now).to.be.above(first.now);
  });

  it('a link that was copied with the punctuation after it leads to its map', async () => {
    const { url } = await newRide();
    const { pathname } = new URL(url);
    for (const tail of ['.', ',', ')', '!', '"', '.)', '%20', '%0A', '%E2%80%8B', '%E3%80%82']) {
      const answer = await fetch(url + tail, { redirect: 'manual' });
      const { pathname: leadsTo } = new URL(answer.headers.get('location') ?? url + tail);
      expect([answer.status, leadsTo], tail).to.deep.equal([302, pathname]);
    }
    for (const tail of ['x', '.x', '0']) expect((await fetch(url + tail)).status, tail).to.equal(404);
  });

  it('the stream, the page and polling show the same state', async () => {
    const { url } = await newRide();
    const { now: _, ...streamed } = await (await open(url)).next();
    const { now: __, ...polled } = (await (await fetch(`${url}/state`)).json()) as { now: number };
    expect(polled).to.deep.equal(streamed);
    expect(await (await fetch(url)).text()).to.include('Finding a driver');
  });

  it('the page shows the facts without scripts; page, state and stream hide passenger, fare, notes, phones and key', async () => {
    const partner = await api.partner('test');
    const { body } = await partner.createRide(
      {
        ...{ fare: 987.65, notes: 'Xanadu notes', webhookUrl: 'https://xanadu.example/hook' },
        passenger: { name: 'Xanadu passenger', phone: '+15550001111' },
      },
      { 'X-Service-Test-Scenario': 'no_offers' },
    );
    const { rideId, trackUrl } = body;
    const { offerId, driver } = await offerOn(api.ctx, rideId);
    await applyAction(api.ctx, rideId, { action: 'accept', offerId }, 'anyone');
    const url = `${api.url}${new URL(trackUrl).pathname}`;
    const page = await (await fetch(url)).text();
    const [, noScripts = ''] = /<noscript>(.*?)<\/noscript>/s.exec(page) ?? [];
    expect(textOf(page)).to.match(/Arriv/).and.include(driver.plate);
    expect(page.split('id="steps"')[1]?.match(/<time/g)).to.have.length(2);
    expect(noScripts).to.include('Reload');
    const ride = await rides.findOne({ _id: rideId });
    const hidden = ['xanadu', '987.65', '+1555', '+1202', 'okoye', ride?.keyId, ride?.accountId, rideId];
    const state = await (await fetch(`${url}/state`)).text();
    for (const text of [page, state, JSON.stringify(await (await open(url)).next())]) {
      for (const secret of hidden) expect(text.toLowerCase()).not.to.include(String(secret).toLowerCase());
    }
  });

  it('a stream beyond the limit of a client, a ride or the process answers 429 until another one ends', async () => {
    const { url } = await newRide();
    const [first, second] = [await newRide(), await newRide()];
    const opened: EventStream[] = [];
    const statuses = async (to: string, client: string, count: number) => {
      for (let tried = 0; tried < count; tried++) opened.push(await open(to, client));
      return opened.slice(-count).map(({ status }) => status);
    };
    expect(await statuses(url, '203.0.113.1', 4)).to.deep.equal([200, 200, 200, 429], 'of a client');
    expect(await statuses(url, '203.0.113.2', 2)).to.deep.equal([200, 429], 'of a ride');
    expect(await statuses(first.url, '203.0.113.3', 3)).to.deep.equal([200, 200, 200]);
    expect(await statuses(second.url, '203.0.113.4', 2)).to.deep.equal([200, 429], 'of the process');
    await opened[0]?.close();
    let status = 429;
    while (status === 429) [status = 429] = await statuses(second.url, '203.0.113.5', 1);
    expect(status).to.equal(200);
  });

  it('the limit of streams counts an IPv6 /64 network as one client, and the 429 names the limit', async () => {
    const [one, other] = [await newRide(), await newRide()];
    for (const [count, { url }] of [one, one, other].entries()) {
      expect((await open(url, `2001:db8:0:7::${count + 1}`)).status).to.equal(200);
    }
    const events = (client: string) =>
      fetch(`${other.url}/events`, { headers: { 'x-forwarded-for': client, accept: '*/*' } });
    const refused = await events('2001:db8:0:7:ffff::9');
    expect(refused.status).to.equal(429);
    expect(await refused.text()).to.include('Too many open streams: at most 3 for each network address');
    expect((await open(other.url, '2001:db8:0:8::1')).status).to.equal(200);
  });

  it('a malformed, unknown or expired track token gets the same 404, byte for byte', async () => {
    const { rideId, url } = await newRide();
    await applyAction(api.ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone');
    await rides.updateOne({ _id: rideId }, { $set: { statusAt: new Date(Date.now() - 24 * 3_600_000) } });
    const links = [url, `${api.url}/track/nothing`, `${api.url}/track/${'a'.repeat(22)}`];
    const answers = await Promise.all(links.flatMap((link) => [fetch(link), fetch(`${link}/events`)]));
    expect(answers.map(({ status }) => status)).to.deep.equal([404, 404, 404, 404, 404, 404]);
    expect(new Set(await Promise.all(answers.map((answer) => answer.text()))).size).to.equal(1);
  });

  const readers: [query: string, locale: string | undefined, accepts: string, shown: string, headline: string][] = [
    ['', 'es-MX', 'de', 'lang="es-MX"', 'Buscando conductor'],
    ['', undefined, 'fi, fr; q=0.5, de-AT ;q=0.8', 'lang="de-AT"', 'Fahrer wird gesucht'],
    ['?lang=fr', 'es', 'de, fr-CA', 'lang="fr-CA"', 'Recherche d’un chauffeur'],
    ['?lang=ar', 'es', 'de', 'lang="ar" dir="rtl"', 'جارٍ البحث عن سائق'],
    ['?lang=xx', 'iw', '', 'lang="he" dir="rtl"', 'מחפשים נהג'],
    ['', 'zh-TW', '', 'lang="zh-Hans-TW"', '正在寻找司机'],
    ['?lang=pt', undefined, 'fi', 'lang="pt"', 'Procurando motorista'],
    ['', 'fi', '*, e, en;q=x, de-x-y-zzzzzzzzz, zzz', 'lang="en"', 'Finding a driver'],
  ];
  for (const [query, locale, accepts, shown, headline] of readers) {
    const reader = `a passenger of ${locale ?? 'an unknown language'} whose browser accepts "${accepts}"`;
    it(`the map${query} shows ${shown} to ${reader}`, async () => {
      const { url } = await newRide({ passenger: { name: 'Ann', locale } });
      const page = await fetch(url + query, { headers: { 'Accept-Language': accepts } });
      expect(await page.text())
        .to.include(`<html ${shown}>`)
        .and.include(headline)
        .and.not.include('Ann');
    });
  }

  it('the page of an expired link is in the chosen language, or else in that of the browser', async () => {
    const page = async (query: string) =>
      (
        await fetch(`${api.url}/track/nothing${query}`, { headers: { 'Accept-Language': 'de', accept: 'text/html' } })
      ).text();
    expect(await page(''))
      .to.include('Dieser Link ist nicht mehr gültig')
      .and.include('href="?lang=es"');
    expect(await page('?lang=he'))
      .to.include('<html lang="he" dir="rtl">')
      .and.include('הקישור הזה כבר לא תקף');
  });

  it('shutdown ends the stream of a map without waiting', async () => {
    const other = await startTestApi();
    const partner = await other.partner('test');
    const { body } = await partner.createRide({}, { 'X-Service-Test-Scenario': 'no_offers' });
    const stream = await openEventStream(`${other.url}${new URL(body.trackUrl).pathname}/events`);
    await stream.next();
    await other.close();
    expect(await stream.next()).to.equal(null);
  });
});

describe('pages', () => {
  const api = useTestApi({
    SERVICE_ENV: 'production',
    TRUSTED_PROXY_HOPS: '1',
    TILE_URL: 'https://tiles.example/{z}/{x}/{y}.png',
    TILE_ATTRIBUTION: 'Tiles by Example',
  });
  const get = (path: string) => fetch(`${api.url}${path}`, { headers: { 'X-Forwarded-Proto': 'https' } });

  const targets: [target: string, location: string | undefined][] = [
    ['http://evil.example/track/x?a=b', 'https://rides.example/track/x?a=b'],
    ['https://evil.example:81/track/x', 'https://rides.example/track/x'],
    ['http://rides.example@evil.example/track/x', 'https://rides.example/track/x'],
    ['/track/..//evil.example/', 'https://rides.example//evil.example/'],
    ['/track/../\\\\evil.example', 'https://rides.example///evil.example'],
    ['/track/x?next=//evil.example', 'https://rides.example/track/x?next=//evil.example'],
    ['/track/%0d%0aSet-Cookie:a', 'https://rides.example/track/%0d%0aSet-Cookie:a'],
    ['//evil.example/track/x', undefined],
    ['/\\evil.example/track/x', undefined],
    ['http://evil.example\\@rides.example/track/x', undefined],
  ];
  for (const [target, location] of targets) {
    it(`a page requested as ${target} over HTTP is redirected only to our own host`, async () => {
      const lines = [`GET ${target} HTTP/1.1`, 'Host: another.example', 'Connection: close'];
      const { status, headers } = await rawRequest(api.url, requestText(lines));
      const found = headers.location;
      expect([status === 308, found]).to.deep.equal([location !== undefined, location]);
      expect(new URL(found ?? 'https://rides.example').hostname).to.equal('rides.example');
    });
  }

  it('errors of the map are pages, with a policy that allows only our own scripts and the tiles', async () => {
    const answer = await get('/track/nothing');
    expect(answer.status).to.equal(404);
    expect(answer.headers.get('content-type')).to.match(/^text\/html/);
    expect(answer.headers.get('referrer-policy')).to.equal('strict-origin');
    expect(answer.headers.has('set-cookie')).to.equal(false);
    expect(answer.headers.get('content-security-policy'))
      .to.include("default-src 'none'")
      .and.include("script-src 'self'")
      .and.include("img-src 'self' data: https://tiles.example")
      .and.not.include('unsafe');
    expect((await get('/track')).status).to.equal(404);
    expect((await get('/track/a/b/c')).status).to.equal(404);
  });

  it('assets have a content hash in their names, are cacheable forever, and compressed if accepted', async () => {
    const page = await (await get('/track/nothing')).text();
    const path = /href="(\/assets\/styles-[^"]+\.css)"/.exec(page)?.[1] ?? '';
    const answer = await fetch(`${api.url}${path}`, {
      headers: { 'X-Forwarded-Proto': 'https', 'Accept-Encoding': 'br, gzip' },
    });
    expect(answer.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
    expect(answer.headers.get('content-encoding')).to.equal('br');
    expect(await answer.text()).to.match(/--accent/);
    expect((await get('/assets/nothing.js')).status).to.equal(404);
  });
});
