import { expect } from 'chai';
import { newRide } from '../support/rides.ts';
import type { TestApi } from '../support/service.ts';
import { jobFor, storedRide } from '../support/stored-rides.ts';
import { until } from '../support/until.ts';
import { startTestService } from '../support/workers.ts';

const hourMs = 3_600_000;

/** No sweeper runs here, which would bring back what is late. */
for (const [title, offMs] of [
  ['behind', -hourMs],
  ['ahead', hourMs],
] as const) {
  describe(`a worker whose host's clock is an hour ${title}`, () => {
    const hostNow = Date.now;
    let service: TestApi;
    before(async () => {
      Date.now = () => hostNow() + offMs;
      service = await startTestService({ SIMULATION_SPEED: '20' }, ['bidding', 'simulator']);
    });
    after(async () => {
      Date.now = hostNow;
      await service.close();
    });

    it('takes every step when it is due, and no other job before', async () => {
      const { ctx } = service;
      const [waiting, rideId] = [
        await newRide(ctx, { mode: 'test', scenario: 'no_offers' }),
        await newRide(ctx, { mode: 'test' }),
      ];
      await until(async () => (await storedRide(rideId)).status === 'completed');
      const expiry = await jobFor(ctx, 'bidding', `${waiting}_expire`);
      expect(expiry).to.include({ attemptsStarted: 0 });
      expect(await expiry?.getState()).to.equal('delayed');
    });
  });
}
