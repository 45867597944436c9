import { expect } from 'chai';
import { UnconfirmedRide } from '../../shared/rides/create-ride.ts';
import { rides } from '../../shared/rides/ride.ts';
import { chargesOf } from '../support/charges.ts';
import { call, clientOf, validRide } from '../support/client.ts';
import { database, onceInsteadOf } from '../support/failing-mongo.ts';
import { withLogLines } from '../support/log-lines.ts';
import { type MongoProxy, startMongoProxy } from '../support/mongo-proxy.ts';
import { newRide } from '../support/rides.ts';
import { startTestApi, type TestApi } from '../support/service.ts';
import { jobFor, outcomeOf } from '../support/stored-rides.ts';

/** The service answers within 3 s, whatever MongoDB does. The driver alone would give up after 30 s. */
const patience = () => AbortSignal.timeout(25_000);

describe('a lost connection to MongoDB', () => {
  let proxy: MongoProxy;
  let api: TestApi;

  beforeEach(async () => {
    proxy = await startMongoProxy(process.env.TEST_MONGO_URL ?? '');
    api = await startTestApi({ MONGO_URL: proxy.url });
  });
  afterEach(async () => {
    await api.close();
    await proxy.close();
  });

  const send = (key: string, method: string, path: string, headers: Record<string, string> = {}) =>
    call(`${api.url}/v1${path}`, {
      method,
      headers: { 'x-api-key': key, ...(method === 'POST' && { 'content-type': 'application/json' }), ...headers },
      body: method === 'POST' ? JSON.stringify(validRide) : undefined,
      signal: patience(),
    });

  for (const [title, cut] of [
    ['after an insert that arrived, before its answer', 'cutAnswerOfInsert'],
    ['before the insert arrived', 'cutInsert'],
  ] as const) {
    it(`${title}, still ends in a 201 and in exactly one ride, charged once`, async () => {
      const partner = await api.partner();
      const lost = proxy[cut]('rides');
      const { status, body } = await partner.createRide();
      await lost;
      expect(status).to.equal(201);
      expect(await rides.countDocuments({ keyId: partner.keyId })).to.equal(1);
      expect((await partner.get(`/rides/${body.rideId}`)).body).to.include({ rideId: body.rideId, status: 'bidding' });
      expect(await chargesOf(api.ctx, partner.keyId)).to.equal(1);
    });

    it(`${title}, keeps the promise of an Idempotency-Key`, async () => {
      const partner = await api.partner();
      const lost = proxy[cut]('rides');
      const first = await partner.createRide({}, { 'idempotency-key': 'a' });
      await lost;
      const again = await partner.createRide({}, { 'idempotency-key': 'a' });
      expect(first.status).to.equal(201);
      expect(again.text).to.equal(first.text);
      expect(await rides.countDocuments({ keyId: partner.keyId })).to.equal(1);
    });
  }

  it('leads to one log line and the job of the first timer, also where the insert is confirmed late', async () => {
    const { ctx, lines } = withLogLines(api.ctx);
    const lost = proxy.cutAnswerOfInsert('rides');
    const rideId = await newRide(ctx, { idempotencyKey: 'a' });
    await lost;
    expect(lines.filter(({ msg }) => msg === 'ride created').map((line) => line.rideId)).to.deep.equal([rideId]);
    expect((await jobFor(ctx, 'dispatch', { rideId, timer: 'dispatch' }))?.data).to.include({ rideId });
  });

  it('leaves a creation unconfirmed whose first insert may have arrived, though later connections are refused', async () => {
    const lost = proxy.cutAnswerOfInsert('rides');
    const creation = newRide(api.ctx).catch((error) => error);
    await lost;
    await proxy.goAway();
    expect(await creation).to.be.an.instanceOf(UnconfirmedRide);
  });

  it('for good refuses a creation within about 3 s, as one that was never sent', async () => {
    await proxy.goAway();
    // The driver notices that its connections are closed.
    await rides.findOne({}).catch(() => {});
    const startedAt = performance.now();
    expect(await outcomeOf(newRide(api.ctx))).to.equal('unavailable');
    expect(performance.now() - startedAt).to.be.below(3_500);
  });

  it('makes one ride of each of many creations that lose it together', async () => {
    const partner = await api.partner();
    const lost = proxy.cutAnswerOfInsert('rides');
    const answers = await Promise.all(Array.from({ length: 10 }, () => partner.createRide()));
    await lost;
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(10).fill(201));
    expect(new Set(answers.map(({ body }) => body.rideId)).size).to.equal(10);
    expect(await rides.countDocuments({ keyId: partner.keyId })).to.equal(10);
  });

  it('for good is a 5xx in JSON within about 3 s, for every operation', async () => {
    const { key } = await api.key();
    const { body } = await clientOf(api.url, key).createRide();
    await proxy.goAway();
    const answers = await Promise.all([
      send(key, 'POST', '/rides'),
      send(key, 'GET', `/rides/${body.rideId}`),
      send(key, 'GET', `/rides/${body.rideId}/offers`),
      send(key, 'POST', `/rides/${body.rideId}/cancel`),
      call(`${api.url}/readyz`, { signal: patience() }),
    ]);
    for (const answer of answers) {
      expect(answer.status).to.be.within(500, 599);
      expect(Object.keys(answer.body)).to.deep.equal(['error']);
      expect(answer.text).not.to.match(/mongo|127\.0\.0\.1/i);
    }
    expect((await call(`${api.url}/healthz`)).status).to.equal(200);
  });

  it('to a server that hangs, after the key was seen, is a 5xx within about 3 s for a creation', async () => {
    const { key } = await api.key();
    onceInsteadOf(database(), 'command', (insert) => {
      proxy.hang();
      return database().command(insert as object);
    });
    const { status, body } = await send(key, 'POST', '/rides');
    expect(status).to.be.within(500, 599);
    expect(Object.keys(body)).to.deep.equal(['error']);
  });

  it('to a server that hangs is a 5xx within about 3 s for every other operation too', async () => {
    const { key } = await api.key();
    const { body } = await clientOf(api.url, key).createRide();
    proxy.hang();
    const answers = await Promise.all([
      send(key, 'GET', `/rides/${body.rideId}`),
      send(key, 'POST', `/rides/${body.rideId}/cancel`),
      send(key, 'GET', ''),
    ]);
    for (const answer of answers) expect(answer.status).to.be.within(500, 599);
  });
});
