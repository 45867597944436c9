import { expect } from 'chai';
import mongoose from 'mongoose';
import { applyAction } from '../../../shared/rides/change-ride.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { claimEvent } from '../../../workers/webhooks/claim-event.ts';
import { settleLast } from '../../../workers/webhooks/settle-event.ts';
import { rideIn } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { jobFor, storedRide } from '../../support/stored-rides.ts';

describe('the job of the next delivery', () => {
  const { find, updateOne } = rides;
  const ctx = useTestContext();
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
