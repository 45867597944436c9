import { Queue, Worker } from 'bullmq';
import { expect } from 'chai';
import { connectWorkerRedis } from '../../shared/base/redis/redis.ts';
import { redisBackendWithClock } from '../../workers/queue-clock.ts';
import { newRide } from '../support/rides.ts';
import { jobFor, storedRide } from '../support/stored-rides.ts';
import { until } from '../support/until.ts';
import { useTestService } from '../support/workers.ts';

const hourMs = 3_600_000;

/** No sweeper runs in these tests, because it would add late jobs again. */
for (const [title, offMs] of [
  ['behind', -hourMs],
  ['ahead', hourMs],
] as const) {
  describe(`a worker on a host whose clock is an hour ${title}`, () => {
    const hostNow = Date.now;
    before(() => {
      Date.now = () => hostNow() + offMs;
    });
    const service = useTestService({ SIMULATION_SPEED: '20' }, ['bidding', 'simulator']);
    after(() => {
      Date.now = hostNow;
    });

    it("a job's start has the time of the host's clock, by which BullMQ renews the job's lock", async () => {
      const { ctx } = service;
      let startedAt = 0;
      const connection = connectWorkerRedis(ctx.config.secrets.redisUrl, ctx.log);
      // BullMQ compares the recorded start of a job with the host's clock to decide when to renew the lock.
      const worker = new Worker(
        'lock',
        async ({ processedOn = 0 }) => {
          startedAt = processedOn;
        },
        { connection, prefix: '{rides:lock}' },
        redisBackendWithClock(ctx.now),
      );
      const queue = new Queue('lock', { connection, prefix: '{rides:lock}' });
      await queue.add('a job', {});
      await until(async () => startedAt > 0);
      expect(Math.abs(startedAt - Date.now())).to.be.below(60_000);
      await worker.close();
      await queue.close();
      connection.disconnect();
    });

    it('a worker with a wrong host clock runs each timer when it is due, and none early', async () => {
      const { ctx } = service;
      const [waiting, rideId] = [
        await newRide(ctx, { mode: 'test', scenario: 'no_offers' }),
        await newRide(ctx, { mode: 'test' }),
      ];
      await until(async () => (await storedRide(rideId)).status === 'completed');
      const expiry = await jobFor(ctx, 'bidding', { rideId: waiting, timer: 'expire' });
      expect(expiry).to.include({ attemptsStarted: 0 });
      expect(await expiry?.getState()).to.equal('delayed');
    });
  });
}
