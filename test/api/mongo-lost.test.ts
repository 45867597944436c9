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
import { jobFor } from '../support/stored-rides.ts';

/**
 * The service answers within 3 s even if MongoDB hangs; the MongoDB driver itself gives up only after 30 s. In between,
 * so that a busy machine has time to answer.
 */
const patience = () => AbortSignal.timeout(25_000);

describe('lost connections to MongoDB', () => {
  let proxy: MongoProxy;
  let api: TestApi;

  const useApi = (options: { timeLimits: boolean }) =>
    beforeEach(async () => {
      proxy = await startMongoProxy(process.env.TEST_RUN_MONGO_URL ?? '');
      api = await startTestApi({ MONGO_URL: proxy.url }, options);
    });
  afterEach(async () => {
    await api?.close();
    await proxy.close();
  });

  const send = (key: string, method: string, path: string, headers: Record<string, string> = {}) =>
    call(`${api.url}/v1${path}`, {
      method,
      headers: { 'x-api-key': key, ...(method === 'POST' && { 'content-type': 'application/json' }), ...headers },
      body: method === 'POST' ? JSON.stringify(validRide) : undefined,
      signal: patience(),
    });

  describe('that the driver can open again', () => {
    useApi({ timeLimits: false });

    for (const [title, cut] of [
      ['after the insert arrived and before its reply', 'cutAnswerOfInsert'],
      ['before the insert arrived', 'cutInsert'],
    ] as const) {
      it(`a creation whose connection to MongoDB breaks ${title} answers 201, as its repeat does, with one ride, charged once`, async () => {
        const partner = await api.partner();
        const lost = proxy[cut]('rides');
        const first = await partner.createRide({}, { 'idempotency-key': 'a' });
        await lost;
        const { status, body } = first;
        expect(status).to.equal(201);
        expect((await partner.createRide({}, { 'idempotency-key': 'a' })).text).to.equal(first.text);
        expect(await rides.countDocuments({ keyId: partner.keyId })).to.equal(1);
        expect((await partner.get(`/rides/${body.rideId}`)).body).to.include({
          rideId: body.rideId,
          status: 'bidding',
        });
        expect(await chargesOf(api.ctx, partner.keyId)).to.equal(1);
      });

      it(`10 concurrent creations whose connections to MongoDB break ${title} create exactly one ride each`, async () => {
        const partner = await api.partner();
        const lost = proxy[cut]('rides');
        const answers = await Promise.all(Array.from({ length: 10 }, () => partner.createRide()));
        await lost;
        expect(answers.map(({ status }) => status)).to.deep.equal(Array(10).fill(201));
        expect(new Set(answers.map(({ body }) => body.rideId)).size).to.equal(10);
        expect(await rides.countDocuments({ keyId: partner.keyId })).to.equal(10);
      });
    }

    it('a creation whose insert is confirmed late writes one log line and adds the job of the first timer', async () => {
      const { ctx, lines } = withLogLines(api.ctx);
      const lost = proxy.cutAnswerOfInsert('rides');
      const rideId = await newRide(ctx, { idempotencyKey: 'a' });
      await lost;
      expect(lines.filter(({ msg }) => msg === 'ride created').map((line) => line.rideId)).to.deep.equal([rideId]);
      expect((await jobFor(ctx, 'dispatch', { rideId, timer: 'dispatch' }))?.data).to.include({ rideId });
    });
  });

  describe('that cannot be opened again, or hang', () => {
    useApi({ timeLimits: true });

    it('a creation whose insert may have arrived stays unconfirmed if MongoDB then refuses connections', async () => {
      const lost = proxy.cutAnswerOfInsert('rides');
      const creation = newRide(api.ctx).catch((error) => error);
      await lost;
      await proxy.goAway();
      expect(await creation).to.be.an.instanceOf(UnconfirmedRide);
    });

    it('every operation answers 5xx in JSON within about 3 s if no connection to MongoDB is possible', async () => {
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

    it('a creation answers 5xx within about 3 s if MongoDB hangs after authentication', async () => {
      const { key } = await api.key();
      onceInsteadOf(database(), 'command', (insert) => {
        proxy.hang();
        return database().command(insert as object);
      });
      expect((await send(key, 'POST', '/rides')).status).to.be.within(500, 599);
    });

    it('every other operation answers 5xx within about 3 s if MongoDB hangs', async () => {
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
});
