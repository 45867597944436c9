import { expect } from 'chai';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { rides } from '../../shared/rides/ride.ts';
import { sweep } from '../../workers/periodic/sweeper/sweep.ts';
import { newDriver, offerOn } from '../support/rides.ts';
import { usePartner, useTestApi } from '../support/service.ts';
import {
  autoAcceptNow,
  endBidding,
  jobFor,
  makeDue,
  runAutoAccept,
  statusesSent,
  storedRide,
} from '../support/stored-rides.ts';

describe('auto-accept', () => {
  const api = useTestApi();
  const partner = usePartner(api, 'live');

  const limits = { maxPrice: 25, maxEtaMinutes: 10 };
  const newRideWith = async (autoAccept: object = limits): Promise<string> =>
    (await partner.createRide({ fare: 20, autoAccept })).body.rideId;
  const timersOf = async (rideId: string) => (await storedRide(rideId)).timers.map(({ name }) => name);
  const run = (rideId: string) => runAutoAccept(api.ctx, rideId);
  const due = (rideId: string) => autoAcceptNow(api.ctx, rideId);

  it('auto-accept accepts the first offer within its limits, not a later cheaper one, with one event', async () => {
    const rideId = await newRideWith();
    await offerOn(api.ctx, rideId, { price: 26, etaMinutes: 2 });
    await offerOn(api.ctx, rideId, { price: 20, etaMinutes: 11 });
    expect(await timersOf(rideId)).not.to.include('auto_accept');
    const { offerId } = await offerOn(api.ctx, rideId, { price: 25, etaMinutes: 10 });
    await offerOn(api.ctx, rideId, { price: 15, etaMinutes: 1 });
    expect(await due(rideId)).to.include({ result: 'done', status: 'driver_arriving' });
    const ride = await storedRide(rideId);
    expect(ride).to.include({ status: 'driver_arriving', acceptedOfferId: offerId, agreedPrice: 25 });
    expect(statusesSent(ride).slice(-1)).to.deep.equal(['driver_arriving']);
    expect(ride.events.at(-1)?.by).to.equal('auto_accept');
    expect(await run(rideId)).to.deep.equal({ result: 'stale' });
  });

  /** Creates a ride with one offer within the limits, from a driver who is on another ride. */
  async function rideOfBusyDriver() {
    const driver = newDriver();
    const [first, second] = [await newRideWith(), await newRideWith()];
    await offerOn(api.ctx, first, { driver });
    const { offerId } = await offerOn(api.ctx, second, { driver });
    await due(first);
    expect(await due(second))
      .to.have.property('againInMs')
      .that.is.within(1, 10_000);
    const free = () => applyAction(api.ctx, first, { action: 'cancel', by: 'partner' }, 'anyone');
    return { rideId: second, offerId, free };
  }

  it('auto-accept accepts a new offer while the driver of the first offer is on another ride', async () => {
    const { rideId } = await rideOfBusyDriver();
    const { offerId } = await offerOn(api.ctx, rideId);
    await run(rideId);
    expect((await storedRide(rideId)).acceptedOfferId).to.equal(offerId);
  });

  it('auto-accept accepts the offer of a busy driver as soon as the driver is free', async () => {
    const { rideId, offerId, free } = await rideOfBusyDriver();
    expect(await due(rideId)).to.have.property('againInMs');
    await free();
    expect(await due(rideId)).to.include({ result: 'done', status: 'driver_arriving' });
    expect((await storedRide(rideId)).acceptedOfferId).to.equal(offerId);
  });

  it("when a driver becomes free, the sweeper's job accepts the offer once, even if it runs twice", async () => {
    const { rideId, offerId, free } = await rideOfBusyDriver();
    await free();
    await (await jobFor(api.ctx, 'bidding', { rideId, timer: 'auto_accept' }))?.remove();
    await makeDue(rideId, 'auto_accept');
    await sweep(api.ctx, { everything: false });
    const job = await jobFor(api.ctx, 'bidding', { rideId, timer: 'auto_accept' });
    expect(job?.data).to.deep.equal({ rideId, timer: 'auto_accept' });
    await Promise.all([run(rideId), run(rideId)]);
    const ride = await storedRide(rideId);
    expect(ride.acceptedOfferId).to.equal(offerId);
    expect(statusesSent(ride)).to.deep.equal(['offer.received', 'driver_arriving']);
  });

  it('auto-accept never accepts the offer of a driver who becomes free after the bidding time', async () => {
    const { rideId, free } = await rideOfBusyDriver();
    await endBidding(rideId);
    await free();
    expect(await due(rideId)).to.include({ result: 'done', status: 'bidding' });
    expect(await storedRide(rideId)).to.include({ status: 'bidding' });
  });

  it('auto-accept does not retry in the last seconds of bidding, nor after the offer is withdrawn', async () => {
    const [over, withdrawn] = [await rideOfBusyDriver(), await rideOfBusyDriver()];
    await rides.updateOne({ _id: over.rideId }, { $set: { biddingEndsAt: new Date(api.ctx.now() + 1_000) } });
    const { rideId, offerId } = withdrawn;
    await applyAction(api.ctx, rideId, { action: 'withdrawOffer', offerId }, 'anyone');
    for (const each of [over, withdrawn]) {
      await due(each.rideId);
      expect(await timersOf(each.rideId)).not.to.include('auto_accept');
    }
  });

  it('the scenario of a test ride continues after auto-accept', async () => {
    const tester = await api.partner('test');
    const { rideId } = (await tester.createRide({ fare: 20, autoAccept: limits })).body;
    await tester.post(`/test/rides/${rideId}/offer`);
    await due(rideId);
    expect(await timersOf(rideId)).to.have.members(['stall', 'arrive']);
  });

  const waiting = { ...limits, waitSeconds: 20 };
  const waitOf = async (rideId: string) => {
    const { timers } = await storedRide(rideId);
    return timers.find(({ name }) => name === 'auto_accept')?.dueAt;
  };
  const acceptedBy = async (rideId: string) => (await storedRide(rideId)).acceptedOfferId;

  it('after the wait the cheapest offer within the limits is accepted; of equal prices the one with the shortest ETA', async () => {
    const rideId = await newRideWith(waiting);
    await offerOn(api.ctx, rideId, { price: 24, etaMinutes: 2 });
    await offerOn(api.ctx, rideId, { price: 19, etaMinutes: 11 });
    await offerOn(api.ctx, rideId, { price: 21, etaMinutes: 9 });
    const { offerId } = await offerOn(api.ctx, rideId, { price: 21, etaMinutes: 6 });
    await offerOn(api.ctx, rideId, { price: 21, etaMinutes: 6 });
    expect(await due(rideId)).to.include({ result: 'done', status: 'driver_arriving' });
    const ride = await storedRide(rideId);
    expect(ride).to.include({ acceptedOfferId: offerId, agreedPrice: 21 });
    expect(ride.events.at(-1)?.by).to.equal('auto_accept');
    expect(await run(rideId)).to.deep.equal({ result: 'stale' });
  });

  it('if no fitting offer is left after the wait, the next one starts a new wait', async () => {
    const rideId = await newRideWith(waiting);
    const { offerId } = await offerOn(api.ctx, rideId);
    await applyAction(api.ctx, rideId, { action: 'withdrawOffer', offerId }, 'anyone');
    expect(await due(rideId)).to.include({ result: 'done', status: 'bidding' });
    expect(await waitOf(rideId)).to.equal(undefined);
    const { at } = await offerOn(api.ctx, rideId);
    expect((await waitOf(rideId))?.getTime()).to.equal(at.getTime() + 20_000);
  });

  it('the partner can accept any offer or cancel during the wait, which then has no effect', async () => {
    const [accepted, cancelled] = [await newRideWith(waiting), await newRideWith(waiting)];
    await offerOn(api.ctx, accepted, { price: 15 });
    const { offerId } = await offerOn(api.ctx, accepted, { price: 90 });
    await partner.post(`/rides/${accepted}/accept`, { offerId });
    await offerOn(api.ctx, cancelled);
    await partner.post(`/rides/${cancelled}/cancel`);
    for (const rideId of [accepted, cancelled]) expect(await run(rideId)).to.deep.equal({ result: 'stale' });
    expect(await acceptedBy(accepted)).to.equal(offerId);
  });
});
