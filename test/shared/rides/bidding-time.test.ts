import { expect } from 'chai';
import { mongoNow } from '../../../shared/base/mongo/clock.ts';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { runDispatch } from '../../support/drivers.ts';
import { fireTimer } from '../../support/fire-timer.ts';
import { newRide, rideIn } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { endBidding, jobFor, makeDue, outcomeOf, storedRide } from '../../support/stored-rides.ts';

describe('the bidding time', () => {
  const ctx = useTestContext();

  it('the end of bidding cancels a ride by timeout, with one event and no remaining timer', async () => {
    const rideId = await newRide(ctx);
    await endBidding(rideId);
    expect(await fireTimer(ctx, rideId, 'expire')).to.include({ result: 'done', status: 'cancelled' });
    const ride = await storedRide(rideId);
    expect(ride).to.include({ status: 'cancelled', cancelledBy: 'timeout', seq: 1 });
    expect(ride.timers).to.deep.equal([]);
    expect(ride).not.to.have.property('nextDueAt');
    expect(JSON.parse(ride.events[0]?.body ?? '')).to.include({ status: 'cancelled', cancelledBy: 'timeout' });
  });

  it('a timer that fires early gets the remaining time and writes nothing', async () => {
    const rideId = await newRide(ctx);
    const before = await storedRide(rideId);
    const askedAt = await mongoNow();
    const fired = await fireTimer(ctx, rideId, 'expire');
    const endsAt = before.biddingEndsAt.getTime();
    // The remaining time is by MongoDB's clock, so the test reads this clock just before and just after the call.
    const [longest, shortest] = [endsAt - askedAt.getTime(), endsAt - (await mongoNow()).getTime()];
    expect(fired.result).to.equal('early');
    expect('remainingMs' in fired && fired.remainingMs).to.be.within(shortest, longest);
    expect(await storedRide(rideId)).to.deep.equal(before);
  });

  it('a late expire timer changes neither a ride with an accepted offer nor an unknown ride', async () => {
    const { rideId } = await rideIn(ctx, 'driver_arriving');
    const before = await storedRide(rideId);
    expect(await fireTimer(ctx, rideId, 'expire')).to.deep.equal({ result: 'stale' });
    expect(await storedRide(rideId)).to.deep.equal(before);
    expect(await fireTimer(ctx, 'ride_of_nobody', 'expire')).to.deep.equal({ result: 'stale' });
  });

  it('an accept that reads the ride before the deadline and writes after it is refused', async () => {
    const { rideId, offerId } = await rideIn(ctx, 'bidding');
    const { find } = rides;
    // The deadline passes between the read and the write.
    rides.find = ((...args: Parameters<typeof find>) => {
      const cursor = Reflect.apply(find, rides, args);
      const { toArray } = cursor;
      cursor.toArray = async () => {
        const found = await toArray.call(cursor);
        rides.find = find;
        await rides.updateOne({ _id: rideId }, { $set: { biddingEndsAt: new Date(Date.now() - 1) } });
        return found;
      };
      return cursor;
    }) as typeof find;
    try {
      expect(await outcomeOf(applyAction(ctx, rideId, { action: 'accept', offerId }, 'anyone'))).to.equal(
        'bidding_over',
      );
    } finally {
      rides.find = find;
    }
    expect(await storedRide(rideId)).to.include({ status: 'bidding', rev: 1 });
  });
});

describe('trips without progress', () => {
  const ctx = useTestContext({ PICKUP_TIMEOUT_MS: '7200000', TRIP_TIMEOUT_MS: '43200000' });

  it('a trip without progress has a time limit without a job, and is cancelled by timeout when it is over', async () => {
    const { rideId } = await rideIn(ctx, 'in_progress');
    await runDispatch(ctx, rideId, 'driver');
    const { statusAt, timers, nextDueAt } = await storedRide(rideId);
    const dueAt = new Date(statusAt.getTime() + 12 * 3_600_000);
    expect({ timers, nextDueAt }).to.deep.equal({ timers: [{ name: 'stall', dueAt }], nextDueAt: dueAt });
    for (const pool of ['bidding', 'simulator'] as const) {
      expect(await jobFor(ctx, pool, { rideId, timer: 'stall' })).to.equal(undefined);
    }
    await makeDue(rideId, 'stall');
    expect(await fireTimer(ctx, rideId, 'stall')).to.include({ result: 'done', status: 'cancelled' });
    const ride = await storedRide(rideId);
    expect(ride).to.include({ status: 'cancelled', cancelledBy: 'timeout' });
    expect(ride.timers.map(({ name }) => name)).to.deep.equal(['driver']);
  });
});
