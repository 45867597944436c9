import { expect } from 'chai';
import { applyAction } from '../../shared/rides/change-ride.ts';
import { rides } from '../../shared/rides/ride.ts';
import { newDriver, offerOn } from '../support/rides.ts';
import { usePartner, useTestApi } from '../support/service.ts';
import { autoAcceptNow, endBidding, jobFor, runAutoAccept, storedRide } from '../support/stored-rides.ts';

describe('auto-accept with waitSeconds', () => {
  const api = useTestApi();
  const partner = usePartner(api, 'live');

  const limits = { maxPrice: 25, maxEtaMinutes: 10, waitSeconds: 20 };
  const newRideWith = async (changes: object = {}): Promise<string> =>
    (await partner.createRide({ fare: 20, autoAccept: { ...limits, ...changes } })).body.rideId;
  const waitOf = async (rideId: string) => {
    const { timers } = await storedRide(rideId);
    return timers.find(({ name }) => name === 'auto_accept')?.dueAt;
  };
  const run = (rideId: string) => runAutoAccept(api.ctx, rideId);
  const due = (rideId: string) => autoAcceptNow(api.ctx, rideId);
  const acceptedBy = async (rideId: string) => (await storedRide(rideId)).acceptedOfferId;
  const withdraw = (rideId: string, offerId: string) =>
    applyAction(api.ctx, rideId, { action: 'withdrawOffer', offerId }, 'anyone');

  it('the wait begins with the first offer within the limits, and later offers do not prolong it', async () => {
    const rideId = await newRideWith();
    await offerOn(api.ctx, rideId, { price: 26 });
    expect(await waitOf(rideId)).to.equal(undefined);
    const { at } = await offerOn(api.ctx, rideId, { price: 25 });
    const dueAt = await waitOf(rideId);
    expect(dueAt?.getTime()).to.equal(at.getTime() + 20_000);
    await offerOn(api.ctx, rideId, { price: 20 });
    expect(await waitOf(rideId)).to.deep.equal(dueAt);
    expect(await run(rideId)).to.include({ why: 'early' });
    expect((await storedRide(rideId)).status).to.equal('bidding');
  });

  it('after the wait the cheapest offer within the limits is accepted; of equal prices the one with the shortest ETA', async () => {
    const rideId = await newRideWith();
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

  it('if the best offer is withdrawn during the wait, the next best is accepted', async () => {
    const rideId = await newRideWith();
    const { offerId: best } = await offerOn(api.ctx, rideId, { price: 20 });
    const { offerId } = await offerOn(api.ctx, rideId, { price: 22 });
    await offerOn(api.ctx, rideId, { price: 23 });
    await withdraw(rideId, best);
    await due(rideId);
    expect(await acceptedBy(rideId)).to.equal(offerId);
  });

  it('if no fitting offer is left after the wait, the next one starts a new wait', async () => {
    const rideId = await newRideWith();
    const { offerId } = await offerOn(api.ctx, rideId);
    await withdraw(rideId, offerId);
    expect(await due(rideId)).to.include({ result: 'done', status: 'bidding' });
    expect(await waitOf(rideId)).to.equal(undefined);
    const { at } = await offerOn(api.ctx, rideId);
    expect((await waitOf(rideId))?.getTime()).to.equal(at.getTime() + 20_000);
  });

  it('if the driver of the best offer is on another ride, the next best is accepted', async () => {
    const driver = newDriver();
    const [first, second] = [await newRideWith(), await newRideWith()];
    await offerOn(api.ctx, first, { driver });
    await offerOn(api.ctx, second, { driver, price: 15 });
    await offerOn(api.ctx, second, { price: 24 });
    const { offerId } = await offerOn(api.ctx, second, { price: 22 });
    await due(first);
    await due(second);
    expect(await acceptedBy(second)).to.equal(offerId);
  });

  const bidForMs = (rideId: string, ms: number) =>
    rides.updateOne({ _id: rideId }, { $set: { biddingEndsAt: new Date(api.ctx.now() + ms) } });

  it('the wait ends 5 s before the bidding time, so that the accept is in time', async () => {
    const rideId = await newRideWith({ waitSeconds: 600 });
    await bidForMs(rideId, 60_000);
    await offerOn(api.ctx, rideId);
    const { biddingEndsAt } = await storedRide(rideId);
    expect((await waitOf(rideId))?.getTime()).to.equal(biddingEndsAt.getTime() - 5_000);
  });

  it('an offer in the last 5 s of the bidding time is accepted at once', async () => {
    const rideId = await newRideWith();
    await bidForMs(rideId, 4_900);
    const { offerId, at } = await offerOn(api.ctx, rideId);
    expect((await waitOf(rideId))?.getTime()).to.equal(at.getTime());
    await run(rideId);
    expect(await acceptedBy(rideId)).to.equal(offerId);
  });

  it('a wait that is over only after the bidding time accepts nothing', async () => {
    const rideId = await newRideWith();
    await offerOn(api.ctx, rideId);
    await endBidding(rideId);
    expect(await due(rideId)).to.include({ result: 'done', status: 'bidding' });
    expect(await acceptedBy(rideId)).to.equal(undefined);
  });

  it('the partner can accept any offer or cancel during the wait, which then has no effect', async () => {
    const [accepted, cancelled] = [await newRideWith(), await newRideWith()];
    await offerOn(api.ctx, accepted, { price: 15 });
    const { offerId } = await offerOn(api.ctx, accepted, { price: 90 });
    await partner.post(`/rides/${accepted}/accept`, { offerId });
    await offerOn(api.ctx, cancelled);
    await partner.post(`/rides/${cancelled}/cancel`);
    for (const rideId of [accepted, cancelled]) expect(await run(rideId)).to.deep.equal({ result: 'stale' });
    expect(await acceptedBy(accepted)).to.equal(offerId);
  });

  it('the job of the wait is due with the wait', async () => {
    const tester = await api.partner('test');
    const noOffers = { 'x-service-test-scenario': 'no_offers' };
    const { rideId } = (await tester.createRide({ autoAccept: limits }, noOffers)).body;
    await tester.post(`/test/rides/${rideId}/offer`);
    const job = await jobFor(api.ctx, 'bidding', { rideId, timer: 'auto_accept' });
    expect((job?.timestamp ?? 0) + (job?.opts.delay ?? 0)).to.equal((await waitOf(rideId))?.getTime());
  });

  it('the creation and retrieve show waitSeconds, and a repeat with another one answers 409', async () => {
    const under = { 'idempotency-key': 'wait' };
    const { body, text } = await partner.createRide({ autoAccept: limits }, under);
    expect(body.autoAccept).to.deep.equal(limits);
    expect((await partner.get(`/rides/${body.rideId}`)).body.autoAccept).to.deep.equal(limits);
    expect((await partner.createRide({ autoAccept: limits }, under)).text).to.equal(text);
    expect((await partner.createRide({ autoAccept: { ...limits, waitSeconds: 5 } }, under)).status).to.equal(409);
  });
});
