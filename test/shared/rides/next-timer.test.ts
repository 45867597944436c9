import { expect } from 'chai';
import mongoose from 'mongoose';
import type { TimerName } from '../../../shared/base/terms.ts';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { sweep } from '../../../workers/periodic/sweeper/sweep.ts';
import { claimEvent } from '../../../workers/webhooks/claim-event.ts';
import { settleLast } from '../../../workers/webhooks/settle-event.ts';
import { fireTimer } from '../../support/fire-timer.ts';
import { newRide, offerOn, rideIn } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { jobFor, makeDue, storedRide } from '../../support/stored-rides.ts';

describe('the jobs of a ride', () => {
  const ctx = useTestContext();

  const expiryOf = (rideId: string) => jobFor(ctx, 'bidding', { rideId, timer: 'expire' });
  const dueMs = (job: Awaited<ReturnType<typeof jobFor>>) => (job?.timestamp ?? 0) + (job?.opts.delay ?? 0);
  const stepOf = (rideId: string, timer: TimerName) => jobFor(ctx, 'simulator', { rideId, timer });

  it('only the next timer of a ride has a job; the following timer gets one when the next timer fires', async () => {
    const rideId = await newRide(ctx, { mode: 'test', scenario: 'no_auto_accept' });
    expect((await stepOf(rideId, 'offer'))?.data).to.deep.equal({ rideId, timer: 'offer' });
    expect(await expiryOf(rideId)).to.equal(undefined);
    await makeDue(rideId, 'offer');
    expect(await fireTimer(ctx, rideId, 'offer')).to.include({ result: 'done' });
    const expiry = await expiryOf(rideId);
    expect(expiry?.data).to.deep.equal({ rideId, timer: 'expire' });
  });

  it('a new timer that is due at once has a job, although the pool of an earlier one is stopped', async () => {
    const rideId = await newRide(ctx, { autoAccept: { maxPrice: 100 } });
    await makeDue(rideId, 'dispatch');
    await offerOn(ctx, rideId);
    const job = await jobFor(ctx, 'bidding', { rideId, timer: 'auto_accept' });
    expect(job?.data).to.deep.equal({ rideId, timer: 'auto_accept' });
  });

  it('the job is due when its timer is, whether a creation, a change or a sweep added it', async () => {
    const nextIsExpiry = await newRide(ctx, { mode: 'test', scenario: 'no_offers' });
    const nextIsOffer = await newRide(ctx, { mode: 'test', scenario: 'no_auto_accept' });
    const jobIsDueWithTimer = async (rideId: string) =>
      expect(dueMs(await expiryOf(rideId))).to.equal((await storedRide(rideId)).biddingEndsAt.getTime());
    await jobIsDueWithTimer(nextIsExpiry);
    await makeDue(nextIsOffer, 'offer');
    await fireTimer(ctx, nextIsOffer, 'offer');
    await jobIsDueWithTimer(nextIsOffer);
    await (await expiryOf(nextIsExpiry))?.remove();
    await sweep(ctx, { everything: true });
    await jobIsDueWithTimer(nextIsExpiry);
  });

  it('a change that does not change the next timer keeps its job', async () => {
    const rideId = await newRide(ctx, { mode: 'test', scenario: 'no_offers' });
    const before = await expiryOf(rideId);
    expect(before?.data).to.deep.equal({ rideId, timer: 'expire' });
    await offerOn(ctx, rideId);
    expect((await expiryOf(rideId))?.id).to.equal(before?.id);
  });

  it('a repeated run adds the jobs of the next timer and of the event again', async () => {
    const rideId = await newRide(ctx, { mode: 'test' });
    await makeDue(rideId, 'offer');
    await fireTimer(ctx, rideId, 'offer');
    // Simulates a first run that crashed before it added the jobs.
    await ctx.queues.simulator.obliterate({ force: true });
    await ctx.queues.webhooks.obliterate({ force: true });
    expect(await fireTimer(ctx, rideId, 'offer')).to.deep.equal({ result: 'stale' });
    expect((await stepOf(rideId, 'accept'))?.data).to.deep.equal({ rideId, timer: 'accept' });
    expect((await jobFor(ctx, 'webhooks', { rideId, seq: 1 }))?.data).to.include({ rideId, seq: 1 });
  });

  it("a timer is due by MongoDB's clock, even after that clock was set back by an hour", async () => {
    const rideId = await newRide(ctx, { mode: 'test' });
    const { offerId } = await offerOn(ctx, rideId);
    await rides.updateOne({ _id: rideId }, { $set: { lastEventAt: new Date(Date.now() + 3_600_000) } });
    const { timers, leg } = await applyAction(ctx, rideId, { action: 'accept', offerId }, 'anyone');
    const arrive = timers.find(({ name }) => name === 'arrive');
    expect(arrive?.dueAt).to.be.below(new Date(Date.now() + 60_000));
    expect(leg?.startAt).to.be.below(new Date(Date.now() + 60_000));
  });

  describe('the job of the next delivery', () => {
    const { find, updateOne } = rides;
    afterEach(() => void Object.assign(rides, { find, updateOne }));

    const delivered = { outcome: 'delivered', durationMs: 12, at: new Date() } as const;

    /** Accepts an offer, and settles the offer's event between the read of the ride and the write of the accept. */
    const acceptWhileSettling = async () => {
      const { rideId, offerId } = await rideIn(ctx, 'bidding');
      await claimEvent(rideId, 1, 'a');
      rides.updateOne = (async (...args: Parameters<typeof updateOne>) => {
        Object.assign(rides, { updateOne });
        expect(await settleLast(rideId, 1, 'a', delivered)).to.equal(true);
        return updateOne.apply(rides, args);
      }) as typeof updateOne;
      return applyAction(ctx, rideId, { action: 'accept', offerId }, 'anyone');
    };
    const nextJobOf = (rideId: string) => jobFor(ctx, 'webhooks', { rideId, seq: 2 });

    it('a change adds the job of its event if earlier events are settled between its read and its write', async () => {
      const { _id } = await acceptWhileSettling();
      expect(await storedRide(_id)).to.include({ seq: 2, settledSeq: 1, unsettled: 1 });
      expect((await nextJobOf(_id))?.data).to.include({ rideId: _id, seq: 2 });
    });

    it('a change succeeds and adds the job of its event even if MongoDB fails right after the write', async () => {
      rides.find = ((filter: object, options: { projection?: object } = {}) => {
        if (!('settledSeq' in (options.projection ?? {}))) return find.call(rides, filter, options);
        throw new mongoose.mongo.MongoNetworkError('connection lost');
      }) as unknown as typeof find;
      const { _id, status } = await acceptWhileSettling();
      expect(status).to.equal('driver_arriving');
      expect((await nextJobOf(_id))?.data).to.include({ rideId: _id, seq: 2 });
    });
  });
});
