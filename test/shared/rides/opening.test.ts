import { expect } from 'chai';
import { newRideId, newTrackToken } from '../../../shared/base/ids.ts';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { openDue } from '../../../workers/periodic/opener.ts';
import { sweep } from '../../../workers/periodic/sweeper/sweep.ts';
import { runDispatch, somewhere } from '../../support/drivers.ts';
import { newRide, offerOn, type RideWish } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { jobFor, makeDue, outcomeOf, storedRide } from '../../support/stored-rides.ts';

const minute = 60_000;

describe('rides for later', () => {
  const ctx = useTestContext();
  // Deletes the rides of other tests, which would be opened or swept as well.
  beforeEach(() => rides.deleteMany({}));

  const inMinutes = (minutes: number) => new Date(ctx.now() + minutes * minute);
  const laterRide = (minutes = 120, wish: Omit<RideWish, 'by' | 'offers'> = {}) =>
    newRide(ctx, { pickup: somewhere(), ...wish, pickupAt: inMinutes(minutes) });
  const timersOf = async (rideId: string) => (await storedRide(rideId)).timers.map(({ name }) => name);

  it('a ride for later gets no offer before it opens, but its fare can be raised and it can be cancelled', async () => {
    const rideId = await laterRide();
    expect(await outcomeOf(offerOn(ctx, rideId))).to.equal('bidding_not_open');
    expect(await outcomeOf(applyAction(ctx, rideId, { action: 'raiseFare', fare: 40 }, 'anyone'))).to.equal('done');
    expect(await outcomeOf(applyAction(ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone'))).to.equal('done');
    expect(await timersOf(rideId)).to.deep.equal([]);
    await rides.updateOne({ _id: rideId }, { $set: { biddingOpensAt: inMinutes(-1) } });
    expect(await openDue(ctx)).to.equal(0);
  });

  it('the opener opens only rides that are due, once, with the whole bidding time and a dispatch job', async () => {
    const [due, waiting] = [await laterRide(), await laterRide()];
    await makeDue(due, 'open', inMinutes(-70));
    expect(await openDue(ctx)).to.equal(1);
    expect(await openDue(ctx)).to.equal(0);
    const ride = await storedRide(due);
    expect(ride.rev).to.equal(1);
    expect(Number(ride.biddingEndsAt) - Number(ride.openedAt)).to.equal(10 * minute);
    expect(ride.timers).to.deep.equal([
      { name: 'expire', dueAt: ride.biddingEndsAt },
      { name: 'dispatch', dueAt: ride.openedAt },
    ]);
    expect((await jobFor(ctx, 'dispatch', { rideId: due, timer: 'dispatch' }))?.data).to.include({ rideId: due });
    expect(await timersOf(waiting)).to.deep.equal(['open']);
    await offerOn(ctx, due);
  });

  it('the opener opens all rides that are due, those with the earliest opening first', async () => {
    const { _id: planned, ...template } = await storedRide(await laterRide());
    const copies = Array.from({ length: 600 }, (_, index): Ride => {
      const dueAt = inMinutes(-1 - ((index * 7) % 600));
      const own = { _id: newRideId(ctx.now()), trackToken: newTrackToken() };
      return { ...template, ...own, biddingOpensAt: dueAt, timers: [{ name: 'open', dueAt }] };
    });
    await rides.deleteOne({ _id: planned });
    await rides.insertMany(copies);
    const openedBeforePage: string[][] = [];
    const count = await openDue(ctx, async () => {
      openedBeforePage.push(await rides.distinct('_id', { openedAt: { $exists: true } }));
      return true;
    });
    expect(count).to.equal(600);
    expect(openedBeforePage).to.have.length(3);
    const byPlan = await rides.find().sort({ biddingOpensAt: 1, _id: 1 }).toArray();
    for (const opened of openedBeforePage) {
      const earliest = byPlan.slice(0, opened.length).map(({ _id }) => _id);
      expect(opened).to.have.members(earliest);
    }
  });

  it('concurrent openers open each ride once', async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, () => laterRide()));
    for (const rideId of ids) await makeDue(rideId, 'open');
    const opened = await Promise.all([openDue(ctx), openDue(ctx), openDue(ctx)]);
    expect(opened.reduce((sum, count) => sum + count, 0)).to.equal(40);
    for (const rideId of ids) expect((await storedRide(rideId)).rev).to.equal(1);
  });

  it('dispatch rounds of a ride for later count from its opening', async () => {
    const rideId = await laterRide();
    await makeDue(rideId, 'open', inMinutes(-70));
    await openDue(ctx);
    await runDispatch(ctx, rideId);
    const { timers, openedAt, rounds } = await storedRide(rideId);
    expect(rounds).to.equal(1);
    const next = timers.find(({ name }) => name === 'dispatch');
    expect(Number(next?.dueAt) - Number(openedAt)).to.equal(20_000);
  });

  it('sweeps visit no ride that waits to open, and a full sweep adds no job for it', async () => {
    const rideId = await laterRide();
    await makeDue(rideId, 'open');
    for (const everything of [false, true]) {
      expect(await sweep(ctx, { everything })).to.include({ timers: 0, stalls: 0 });
    }
    // The sweeper walks the rides with this field.
    expect(await rides.countDocuments({ nextDueAt: { $exists: true } })).to.equal(0);
    expect(await timersOf(rideId)).to.deep.equal(['open']);
  });
});
