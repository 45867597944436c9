import { expect } from 'chai';
import { newRide } from '../support/rides.ts';
import { jobFor, storedRide } from '../support/stored-rides.ts';
import { until } from '../support/until.ts';
import { useTestService } from '../support/workers.ts';

const hourMs = 3_600_000;

/** No sweeper runs here, which would bring back what is late. */
for (const [title, offMs] of [
  ['behind', -hourMs],
  ['ahead', hourMs],
] as const) {
  describe(`a worker whose host's clock is an hour ${title}`, () => {
    const hostNow = Date.now;
    before(() => {
      Date.now = () => hostNow() + offMs;
    });
    const service = useTestService({ SIMULATION_SPEED: '20' }, ['bidding', 'simulator']);
    after(() => {
      Date.now = hostNow;
    });

    it('takes every step when it is due, and no other job before', async () => {
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
