import { expect } from 'chai';
import { rides } from '../../shared/rides/ride.ts';
import { call, validRide } from '../support/client.ts';
import { useTestApi } from '../support/service.ts';
import { useRedis } from '../support/use-redis.ts';

describe('creations while Redis is unavailable', () => {
  const redis = useRedis();
  const api = useTestApi(() => ({ REDIS_URL: redis.url }));

  const create = (key: string, headers: Record<string, string> = {}) =>
    call(`${api.url}/v1/rides`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(validRide),
    });
  const statusesOf = async (answers: Promise<{ status: number }>[]) =>
    (await Promise.all(answers)).map(({ status }) => status).sort();

  it('a creation answers 201 while Redis hangs', async () => {
    const { key } = await api.key();
    process.kill(redis.pid, 'SIGSTOP');
    try {
      expect((await create(key)).status).to.equal(201);
    } finally {
      process.kill(redis.pid, 'SIGCONT');
    }
  });

  describe('with Redis stopped', () => {
    before(async () => {
      await redis.stop();
      // This creation may still find the connection open.
      await create((await api.key()).key);
    });

    it('a creation answers 201 and stores the ride while Redis is unavailable', async () => {
      const { key, keyId } = await api.key();
      const { status, body, headers } = await create(key);
      expect(status).to.equal(201);
      expect(await rides.countDocuments({ keyId })).to.equal(1);
      expect(headers.get('ratelimit')).to.match(/^"minute";r=29;t=60, "hour";r=299;t=3600$/);
      const read = await call(`${api.url}/v1/rides/${body.rideId}`, { headers: { 'x-api-key': key } });
      expect(read.status).to.equal(200);
    });

    it('a process accepts exactly 30 creations per key and minute while Redis is unavailable', async () => {
      const { key, keyId } = await api.key();
      const statuses = await statusesOf(Array.from({ length: 40 }, () => create(key)));
      expect(statuses).to.deep.equal([...Array(30).fill(201), ...Array(10).fill(429)]);
      expect(await rides.countDocuments({ keyId })).to.equal(30);
      const refused = await create(key);
      expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60);
      const other = await api.key();
      expect((await create(other.key)).status).to.equal(201);
    });

    it('the local limit charges repeats with an Idempotency-Key once', async () => {
      const { key } = await api.key();
      for (let i = 0; i < 5; i++) await create(key, { 'idempotency-key': 'once' });
      const { headers } = await create(key);
      expect(headers.get('ratelimit')).to.match(/^"minute";r=28;/);
    });

    it('cancel works while Redis is unavailable', async () => {
      const { key } = await api.key();
      const { body } = await create(key);
      const init = { method: 'POST', headers: { 'x-api-key': key } };
      expect((await call(`${api.url}/v1/rides/${body.rideId}/cancel`, init)).status).to.equal(200);
    });

    it('the API stays ready while Redis is unavailable', async () => {
      expect((await call(`${api.url}/readyz`)).status).to.equal(200);
    });
  });
});
