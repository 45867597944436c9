import { expect } from 'chai';
import { drivers } from '../../../shared/drivers/driver.ts';
import { revokeDriver, rotateDriverKey, suspendDriver } from '../../../shared/drivers/manage-drivers.ts';
import { type Report, writeReports } from '../../../shared/drivers/position-reports.ts';
import { positions } from '../../../shared/drivers/positions.ts';
import { newDriverKey } from '../../../shared/keys/key-format.ts';
import { resumeDriver } from '../../../shared/rides/driver/settle-driver.ts';
import { call } from '../../support/client.ts';
import { dispatchedRide, gatewayDriver, newGatewayDriver, somewhere } from '../../support/drivers.ts';
import { textOf } from '../../support/pages.ts';
import { plainBrowser } from '../../support/plain-browser.ts';
import { useTestApi } from '../../support/service.ts';
import { storedRide } from '../../support/stored-rides.ts';

describe("the drivers' gateway", () => {
  const api = useTestApi();

  const base = '/drivers/v1';
  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    call(`${api.url}${base}${path}`, { method, headers });

  it("a driver's key is accepted in Authorization and in X-Api-Key; Authorization takes precedence", async () => {
    const { key, driverId } = await newGatewayDriver(api);
    const other = await newGatewayDriver(api);
    expect((await ask('/me', { authorization: `Bearer ${key}` })).body).to.include({ driverId });
    expect((await ask('/me', { 'x-api-key': key })).body).to.include({ driverId });
    expect((await ask('/me', { authorization: `bearer ${key}`, 'x-api-key': other.key })).body).to.include({
      driverId,
    });
    expect((await ask('/me', { authorization: 'Bearer', 'x-api-key': key })).status).to.equal(401);
  });

  it("a partner's, unknown, wrong or missing key gets a 401 on every path of the drivers' gateway", async () => {
    const partner = await api.partner('live');
    const { key } = await newGatewayDriver(api);
    const keys = [partner.key, newDriverKey(), key.slice(0, -1), `${key}x`, '{"$gt":""}', ''];
    for (const path of ['/me', '/requests', '/stream', '/ride', '/nothing', '']) {
      for (const wrong of keys) {
        const { status, body, headers } = await ask(path, { authorization: `Bearer ${wrong}` });
        expect({ status, body }).to.deep.equal({ status: 401, body: { error: 'Missing or invalid API key' } });
        expect(headers.get('www-authenticate')).to.equal('Bearer');
      }
      expect((await ask(path)).status).to.equal(401);
    }
  });

  it("the partner API refuses a driver's key", async () => {
    const { key } = await newGatewayDriver(api);
    const { status } = await call(`${api.url}/v1/rides`, { headers: { authorization: `Bearer ${key}` } });
    expect(status).to.equal(401);
  });

  it("a driver's key stops working at once after rotate, suspend or revoke; resume ends a suspension", async () => {
    const driver = await newGatewayDriver(api);
    const status = async () => (await driver.get('/me')).status;
    expect(await status()).to.equal(200);
    await suspendDriver(driver.driverId);
    expect(await status()).to.equal(401);
    await resumeDriver(driver.driverId);
    expect(await status()).to.equal(200);
    const { key } = await rotateDriverKey(driver.driverId);
    expect(await status()).to.equal(401);
    const renewed = gatewayDriver(api.url, driver.driverId, key);
    expect((await renewed.get('/me')).status).to.equal(200);
    await revokeDriver(driver.driverId);
    expect((await renewed.get('/me')).status).to.equal(401);
    expect((await renewed.put('/me/position', { lat: 1, lng: 1 })).status).to.equal(401);
  });

  it("the drivers' gateway answers 404 to an unknown path and 405 to a wrong method, in JSON", async () => {
    const driver = await newGatewayDriver(api);
    const unknown = await driver.get('/nothing');
    expect({ status: unknown.status, body: unknown.body }).to.deep.equal({ status: 404, body: { error: 'Not found' } });
    for (const [send, path, allow] of [
      ['post', '/me', 'HEAD, GET'],
      ['post', '/stream', 'HEAD, GET'],
      ['get', '/me/online', 'POST'],
      ['remove', '/me/position', 'PUT'],
      ['get', '/ride/arrive', 'POST'],
    ] as const) {
      const { status, headers } = await (send === 'get' ? driver.get(path) : driver[send](path, {}));
      expect([status, headers.get('allow')], path).to.deep.equal([405, allow]);
    }
    expect(unknown.headers.get('cache-control')).to.equal('no-store');
    expect(unknown.headers.get('content-security-policy')).to.include("default-src 'none'");
    expect(unknown.headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
    for (const path of ['/drivers', '/drivers/v2/me', '/drivers/v1x']) {
      expect((await call(api.url + path)).status, path).to.equal(404);
    }
  });

  it("/me shows the driver's profile, without phone and key", async () => {
    const { driverId, get } = await newGatewayDriver(api, {
      carType: 'comfort',
      seats: 6,
      rating: 4.25,
      equipment: ['pet'],
    });
    expect((await get('/me')).body).to.deep.equal({
      driverId,
      name: 'Dana Okoye',
      rating: 4.25,
      vehicle: 'Toyota Prius, blue',
      plate: 'T 104',
      carType: 'comfort',
      seats: 6,
      equipment: ['pet'],
      available: false,
    });
  });

  // The number of the operator, 4.25, counts as ten ratings.
  const rated: [string, { count: number; sum: number }, own: object, shown: number][] = [
    ['one rating', { count: 1, sum: 1 }, { rating: 4.25 }, 3.95],
    ['4 ratings', { count: 4, sum: 20 }, { rating: 4.25 }, 4.46],
    ['5 ratings', { count: 5, sum: 25 }, { rating: 4.5, ratedRides: 5 }, 4.5],
    ['200 ratings', { count: 200, sum: 1_000 }, { rating: 4.96, ratedRides: 200 }, 4.96],
  ];
  for (const [name, ratings, own, shown] of rated) {
    it(`a driver with ${name} sees an average only over 5 rides or more, and partners see it at once`, async () => {
      const place = somewhere();
      const driver = await newGatewayDriver(api, { at: place, rating: 4.25 });
      await drivers.updateOne({ _id: driver.driverId }, { $set: { ratings: { ...ratings, rev: 1 } } });
      const { rating, ratedRides } = (await driver.get('/me')).body;
      expect({ rating, ...(ratedRides && { ratedRides }) }).to.deep.equal(own);
      const browser = plainBrowser(api);
      await browser.get('/drive');
      await browser.press('Sign in', { key: driver.key });
      expect(textOf(browser.page.html).includes('Rated ★')).to.equal('ratedRides' in own);
      const rideId = await dispatchedRide(api.ctx, place);
      await driver.post(`/requests/${rideId}/offers`, { price: 20, etaMinutes: 3 });
      const [offer] = (await storedRide(rideId)).offers;
      expect(offer?.driver.rating).to.equal(shown);
      expect(offer?.driver).to.have.all.keys('driverId', 'name', 'phone', 'rating', 'vehicle', 'plate');
    });
  }

  it('/me/online makes a driver available at a place, and /me/offline ends it', async () => {
    const { get, post } = await newGatewayDriver(api);
    const place = somewhere();
    const online = await post('/me/online', place);
    expect({ status: online.status, body: online.body }).to.deep.equal({ status: 200, body: { available: true } });
    const { body } = await get('/me');
    expect(body.available).to.equal(true);
    expect(body.position).to.include({ ...place, heading: 0 });
    expect(body.position.at).to.be.within(api.ctx.now() - 10_000, api.ctx.now());
    const offline = await post('/me/offline');
    expect({ status: offline.status, body: offline.body }).to.deep.equal({ status: 200, body: { available: false } });
    expect((await get('/me')).body).to.deep.include({ available: false, position: body.position });
    expect((await post('/me/offline', 'not even JSON')).status).to.equal(200);
  });

  it('a driver who has not reported for 60 s counts as offline until the next report', async () => {
    const { driverId, get, post, put } = await newGatewayDriver(api);
    await post('/me/online', somewhere());
    const at = (secondsAgo: number) => new Date(api.ctx.now() - secondsAgo * 1_000);
    await positions.updateOne({ _id: driverId }, { $set: { seenAt: at(59) } });
    expect((await get('/me')).body.available).to.equal(true);
    await positions.updateOne({ _id: driverId }, { $set: { seenAt: at(60), at: at(60) } });
    expect((await get('/me')).body.available).to.equal(false);
    await put('/me/position', somewhere());
    expect((await get('/me')).body.available).to.equal(true);
  });

  it('a position report answers 204 without a body, and GET /me shows it', async () => {
    const { get, put } = await newGatewayDriver(api);
    const place = somewhere();
    const { status, text } = await put('/me/position', { ...place, heading: 271.5 });
    expect({ status, text }).to.deep.equal({ status: 204, text: '' });
    const { body } = await get('/me');
    expect(body.position).to.include({ ...place, heading: 271.5 });
    expect(body.available).to.equal(false);
  });

  /** Writes the driver's last report directly, because the gateway delays the next report by a second. */
  const writeLastReport = (driverId: string, report: Report, secondsAgo = 2) =>
    writeReports(new Map([[driverId, report]]), new Date(api.ctx.now() - secondsAgo * 1_000));

  for (const [byMs, changes] of [
    [-1, false],
    [0, false],
    [1, true],
  ] as const) {
    it(`a report with \`at\` ${byMs} ms after the last one ${changes ? 'changes' : 'does not change'} the position`, async () => {
      const { driverId, get, put } = await newGatewayDriver(api);
      const [last, next] = [somewhere(), somewhere()];
      const at = api.ctx.now() - 10_000;
      await writeLastReport(driverId, { ...last, at: new Date(at) });
      expect((await put('/me/position', { ...next, at: at + byMs })).status).to.equal(204);
      expect((await get('/me')).body.position).to.include(changes ? { ...next, at: at + byMs } : { ...last, at });
    });
  }

  it('/me shows an `at` in the future as the current time', async () => {
    const { get, put } = await newGatewayDriver(api);
    await put('/me/position', { ...somewhere(), at: api.ctx.now() + 3_600_000 });
    expect((await get('/me')).body.position.at).to.be.at.most(api.ctx.now());
  });

  it('a report without `at` changes the position even after a report in the future', async () => {
    const { driverId, get, put } = await newGatewayDriver(api);
    await writeLastReport(driverId, { ...somewhere(), at: new Date(api.ctx.now() + 3_600_000) });
    const next = somewhere();
    await put('/me/position', next);
    expect((await get('/me')).body.position).to.include(next);
  });

  for (const [clock, aheadMs] of [
    ['10 minutes slow', -600_000],
    ['an hour fast', 3_600_000],
  ] as const) {
    it(`a driver whose phone clock is ${clock} stays available at the reported place`, async () => {
      const { driverId, get, put, post } = await newGatewayDriver(api);
      await post('/me/online', somewhere());
      await writeLastReport(driverId, { ...somewhere(), at: new Date(api.ctx.now() + aheadMs - 2_000) });
      const longAgo = new Date(api.ctx.now() - 59_000);
      await positions.updateOne({ _id: driverId }, { $set: { seenAt: longAgo } });
      const place = somewhere();
      await put('/me/position', { ...place, at: api.ctx.now() + aheadMs });
      const stored = await positions.findOne({ _id: driverId });
      expect(stored?.seenAt.getTime()).to.be.above(longAgo.getTime());
      const { available, position } = (await get('/me')).body;
      expect(available).to.equal(true);
      expect(position).to.include(place);
      expect(position.at).to.be.within(api.ctx.now() - 30_000, api.ctx.now());
    });
  }

  it('a report older than the last one still makes the driver available', async () => {
    const { driverId, get, put, post } = await newGatewayDriver(api);
    await post('/me/online', somewhere());
    const at = api.ctx.now() - 10_000;
    await writeLastReport(driverId, { ...somewhere(), at: new Date(at) });
    const longAgo = new Date(api.ctx.now() - 61_000);
    await positions.updateOne({ _id: driverId }, { $set: { seenAt: longAgo, available: false } });
    await put('/me/position', { ...somewhere(), at: at - 1 });
    expect((await get('/me')).body.available).to.equal(true);
    expect(await positions.findOne({ _id: driverId })).to.include({ available: true });
  });

  it('reports change the position again a minute after the phone’s clock was set back', async () => {
    const { driverId, get, put } = await newGatewayDriver(api);
    await writeLastReport(driverId, { ...somewhere(), at: new Date(api.ctx.now()) }, 61);
    const place = somewhere();
    await put('/me/position', { ...place, at: api.ctx.now() - 3_600_000 });
    expect((await get('/me')).body.position).to.include(place);
  });

  for (const [step, aheadMs] of [
    ['back', 3_600_000],
    ['forward', -3_600_000],
  ] as const) {
    it(`the next report changes the position after MongoDB’s clock went ${step} by an hour`, async () => {
      const { driverId, get, put, post } = await newGatewayDriver(api);
      await post('/me/online', somewhere());
      const at = api.ctx.now();
      await writeLastReport(driverId, { ...somewhere(), at: new Date(at) });
      // Simulates a position whose times were all written before the clock changed.
      const before = new Date(at + aheadMs);
      await positions.updateOne({ _id: driverId }, { $set: { at: before, seenAt: before, reportedAt: before } });
      expect((await get('/me')).body.available).to.equal(false);
      const place = somewhere();
      await put('/me/position', { ...place, at: at + 1 });
      const { available, position } = (await get('/me')).body;
      expect(available).to.equal(true);
      expect(position).to.include(place);
    });
  }

  it('a report without a heading, or with a negative one, keeps the last heading', async () => {
    const { driverId, get, put } = await newGatewayDriver(api);
    await writeLastReport(driverId, { ...somewhere(), heading: 90 });
    for (const heading of [null, -1]) {
      expect((await put('/me/position', { ...somewhere(), heading })).status).to.equal(204);
      expect((await get('/me')).body.position.heading).to.equal(90);
    }
  });

  it('positions are written at most once a second, and the newest of several reports is kept', async () => {
    const { driverId, get, put } = await newGatewayDriver(api);
    await put('/me/position', somewhere());
    const first = await positions.findOne({ _id: driverId });
    const now = api.ctx.now();
    const last = somewhere();
    const older = () => [1, 2, 3, 4, 5].map((n) => put('/me/position', { ...somewhere(), at: now - 100 + n }));
    // The newest report arrives before the others.
    const answers = await Promise.all([put('/me/position', { ...last, at: now }), ...older()]);
    expect(answers.map(({ status }) => status)).to.deep.equal([204, 204, 204, 204, 204, 204]);
    const stored = await positions.findOne({ _id: driverId });
    expect((stored?.reportedAt?.getTime() ?? 0) - (first?.reportedAt?.getTime() ?? 0)).to.be.at.least(1_000);
    expect((await get('/me')).body.position).to.include({ ...last, at: now });
  });

  it("the drivers' gateway ignores unknown fields", async () => {
    const { post } = await newGatewayDriver(api);
    expect((await post('/me/online', { ...somewhere(), available: false, $set: { x: 1 } })).status).to.equal(200);
  });
});
