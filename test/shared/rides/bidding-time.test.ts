import { expect } from 'chai';
import { mongoNow } from '../../../shared/base/mongo/clock.ts';
import { applyAction } from '../../../shared/rides/change-ride.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { RideStatus } from '../../../shared/rides/ride-types.ts';
import { runDispatch } from '../../support/drivers.ts';
import { fireTimer } from '../../support/fire-timer.ts';
import { newRide, offerOn, rideIn } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { endBidding, jobFor, makeDue, outcomeOf, statusesSent, storedRide } from '../../support/stored-rides.ts';

describe('the bidding time', () => {
  const ctx = useTestContext();

  it('is 10 minutes where no setting says otherwise, and has a job of its own', async () => {
    const rideId = await newRide(ctx, { mode: 'test', scenario: 'no_offers' });
    const ride = await storedRide(rideId);
    expect(ride.biddingEndsAt.getTime() - ride.createdAt.getTime()).to.equal(600_000);
    expect(ride.timers).to.deep.equal([{ name: 'expire', dueAt: ride.biddingEndsAt }]);
    expect(ride.nextDueAt).to.deep.equal(ride.biddingEndsAt);
    const job = await jobFor(ctx, 'bidding', { rideId, timer: 'expire' });
    expect(job?.data).to.deep.equal({ rideId, timer: 'expire' });
    expect((job?.timestamp ?? 0) + (job?.opts.delay ?? 0)).to.equal(ride.biddingEndsAt.getTime());
  });

  it('ends a ride when it is over: cancelled by timeout, one event, no timer left', async () => {
    const rideId = await newRide(ctx);
    await endBidding(rideId);
    expect(await fireTimer(ctx, rideId, 'expire')).to.include({ result: 'done', status: 'cancelled' });
    const ride = await storedRide(rideId);
    expect(ride).to.include({ status: 'cancelled', cancelledBy: 'timeout', seq: 1 });
    expect(ride.timers).to.deep.equal([]);
    expect(ride).not.to.have.property('nextDueAt');
    expect(JSON.parse(ride.events[0]?.body ?? '')).to.include({ status: 'cancelled', cancelledBy: 'timeout' });
  });

  it('tells a timer that fires early how long to wait, and writes nothing', async () => {
    const rideId = await newRide(ctx);
    const before = await storedRide(rideId);
    const askedAt = await mongoNow();
    const fired = await fireTimer(ctx, rideId, 'expire');
    const endsAt = before.biddingEndsAt.getTime();
    // MongoDB says how long, and its time is known here from just before and just after.
    const [longest, shortest] = [endsAt - askedAt.getTime(), endsAt - (await mongoNow()).getTime()];
    expect(fired.result).to.equal('early');
    expect('remainingMs' in fired && fired.remainingMs).to.be.within(shortest, longest);
    expect(await storedRide(rideId)).to.deep.equal(before);
  });

  it('ends a ride once, however often its timer fires', async () => {
    const rideId = await newRide(ctx);
    await endBidding(rideId);
    const fired = await Promise.all([1, 2, 3, 4].map(() => fireTimer(ctx, rideId, 'expire')));
    expect(fired.filter(({ result }) => result === 'done')).to.have.length(1);
    expect(await fireTimer(ctx, rideId, 'expire')).to.deep.equal({ result: 'stale' });
    expect(statusesSent(await storedRide(rideId))).to.deep.equal(['cancelled']);
  });

  it('does nothing to a ride whose offer was accepted, nor to one that is unknown', async () => {
    const { rideId } = await rideIn(ctx, 'driver_arriving');
    const before = await storedRide(rideId);
    expect(await fireTimer(ctx, rideId, 'expire')).to.deep.equal({ result: 'stale' });
    expect(await storedRide(rideId)).to.deep.equal(before);
    expect(await fireTimer(ctx, 'ride_of_nobody', 'expire')).to.deep.equal({ result: 'stale' });
  });

  it('lets neither offers nor accepts count after its end, though the expiry is late; a cancel still does', async () => {
    const { rideId, offerId } = await rideIn(ctx, 'bidding');
    await endBidding(rideId);
    const before = await storedRide(rideId);
    expect(await outcomeOf(offerOn(ctx, rideId))).to.equal('bidding_over');
    expect(await outcomeOf(applyAction(ctx, rideId, { action: 'accept', offerId }, 'anyone'))).to.equal('bidding_over');
    expect(await storedRide(rideId)).to.deep.equal(before);
    await applyAction(ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone');
    expect(await storedRide(rideId)).to.include({ status: 'cancelled', cancelledBy: 'partner' });
  });

  it('refuses an accept that is read before the deadline and written after it', async () => {
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

describe('a trip that makes no progress', () => {
  const ctx = useTestContext({ PICKUP_TIMEOUT_MS: '7200000', TRIP_TIMEOUT_MS: '43200000' });

  /** A live ride whose driver was told of it. */
  async function settledRideIn(status: RideStatus): Promise<string> {
    const { rideId } = await rideIn(ctx, status);
    await runDispatch(ctx, rideId, 'driver');
    return rideId;
  }

  const hours = { driver_arriving: 2, arrived: 2, in_progress: 12 } as const;
  for (const status of ['driver_arriving', 'arrived', 'in_progress'] as const) {
    it(`has ${hours[status]} hours while it is ${status}, counted from then, and no job`, async () => {
      const rideId = await settledRideIn(status);
      const ride = await storedRide(rideId);
      const dueAt = new Date(ride.statusAt.getTime() + hours[status] * 3_600_000);
      expect(ride.timers).to.deep.equal([{ name: 'stall', dueAt }]);
      expect(ride.nextDueAt).to.deep.equal(dueAt);
      for (const pool of ['bidding', 'simulator'] as const) {
        expect(await jobFor(ctx, pool, { rideId, timer: 'stall' })).to.equal(undefined);
      }
    });

    it(`is cancelled by timeout when they are over in ${status}`, async () => {
      const rideId = await settledRideIn(status);
      await makeDue(rideId, 'stall');
      expect(await fireTimer(ctx, rideId, 'stall')).to.include({ result: 'done', status: 'cancelled' });
      const ride = await storedRide(rideId);
      expect(ride).to.include({ status: 'cancelled', cancelledBy: 'timeout' });
      expect(ride.timers.map(({ name }) => name)).to.deep.equal(['driver']);
    });
  }

  for (const status of ['completed', 'cancelled'] as const) {
    it(`has no timer once it is ${status}`, async () => {
      const rideId = await settledRideIn(status);
      const ride = await storedRide(rideId);
      expect(ride.timers).to.deep.equal([]);
      expect(ride).not.to.have.property('nextDueAt');
    });
  }
});
