import { expect } from 'chai';
import { applyAction } from '../../shared/rides/change-ride.ts';
import { rides } from '../../shared/rides/ride.ts';
import { rideIn } from '../support/rides.ts';
import { usePartner, useTestApi } from '../support/service.ts';
import { storedRide } from '../support/stored-rides.ts';

describe('times of a ride', () => {
  const api = useTestApi();
  const partner = usePartner(api, 'live');

  it('retrieve shows the creation, the end of bidding and one step for each status, with the times of the events', async () => {
    const { rideId } = await rideIn(api.ctx, 'completed', { by: partner });
    const { createdAt, biddingEndsAt, statusAt, events } = await storedRide(rideId);
    const { body } = await partner.get(`/rides/${rideId}`);
    expect(body.createdAt).to.equal(createdAt.getTime());
    expect(body.biddingEndsAt).to.equal(biddingEndsAt.getTime());
    expect(body.statusAt).to.equal(statusAt.getTime());
    const changes = events.filter(({ event }) => event === 'ride.status').map((event) => JSON.parse(event.body));
    expect(body.steps).to.deep.equal([
      { status: 'bidding', at: createdAt.getTime() },
      ...changes.map(({ status, at }) => ({ status, at })),
    ]);
    expect(body.steps.at(-1)).to.deep.equal({ status: 'completed', at: body.statusAt });
  });

  it('a new ride has one step, which began with the creation', async () => {
    const { rideId } = (await partner.createRide()).body;
    const { body } = await partner.get(`/rides/${rideId}`);
    expect(body.steps).to.deep.equal([{ status: 'bidding', at: body.createdAt }]);
    expect(body.statusAt).to.equal(body.createdAt);
    expect(body.biddingEndsAt).to.equal(body.createdAt + api.ctx.config.biddingTimeoutMs);
  });

  for (const status of ['bidding', 'in_progress'] as const) {
    it(`the last step of a ride that was cancelled while ${status} is cancelled`, async () => {
      const { rideId } = await rideIn(api.ctx, status, { by: partner });
      const before = (await partner.get(`/rides/${rideId}`)).body.steps;
      await applyAction(api.ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone');
      const { body } = await partner.get(`/rides/${rideId}`);
      expect(before.at(-1)).to.include({ status });
      expect(body.steps).to.deep.equal([...before, { status: 'cancelled', at: body.statusAt }]);
    });
  }

  it('a step has the time of its event while the feed dates it later', async () => {
    const { rideId } = await rideIn(api.ctx, 'driver_arriving', { by: partner });
    const { events } = await storedRide(rideId);
    const last = events.length - 1;
    const at = events[last]?.at as Date;
    const moved = { [`events.${last}.clockAt`]: at, [`events.${last}.at`]: new Date(at.getTime() + 60_000) };
    await rides.updateOne({ _id: rideId }, { $set: moved });
    const { body } = await partner.get(`/rides/${rideId}`);
    expect(body.steps.at(-1)).to.deep.equal({ status: 'driver_arriving', at: at.getTime() });
  });
});
