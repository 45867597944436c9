import { expect } from 'chai';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { bringSuccessor } from '../../shared/rides/rebid.ts';
import { rides } from '../../shared/rides/ride.ts';
import { ridesByKey } from '../../shared/usage/usage-summary.ts';
import { runBiddingTimer } from '../../workers/bidding.ts';
import { countByDay } from '../../workers/periodic/usage/sum-rides.ts';
import { newGatewayDriver, runDispatch, somewhere } from '../support/drivers.ts';
import { offerOn, rideIn } from '../support/rides.ts';
import { usePartner, useTestApi } from '../support/service.ts';
import { jobFor, storedRide } from '../support/stored-rides.ts';

describe('rides that are replaced when the driver cancels', () => {
  const api = useTestApi();
  const partner = usePartner(api, 'live');

  const rebid = { onDriverCancel: 'rebid' } as const;
  const cancelBy = (rideId: string, by: 'driver' | 'partner' | 'timeout' = 'driver') =>
    applyAction(api.ctx, rideId, { action: 'cancel', by }, 'anyone', { by: 'driver' });
  const run = (rideId: string) =>
    runBiddingTimer(
      api.ctx,
      { rideId, timer: 'rebid' },
      {
        ...{ pool: 'bidding', token: 'test', stopping: new AbortController().signal },
      },
    );
  /** A ride with a driver, who cancels it. Resolves with the ride and the id of its successor. */
  async function cancelledRide(fields: object = {}) {
    const { rideId } = await rideIn(api.ctx, 'driver_arriving', { by: partner, ...rebid, ...fields });
    const { nextRideId } = await cancelBy(rideId);
    return { rideId, next: nextRideId as string };
  }
  const exists = async (rideId: string) => (await rides.countDocuments({ _id: rideId })) === 1;

  it('a cancellation by the driver names the successor in its event and sets the timer that inserts it', async () => {
    const { rideId, next } = await cancelledRide();
    const ride = await storedRide(rideId);
    expect(ride).to.include({ status: 'cancelled', cancelReason: 'driver', nextRideId: next });
    expect(ride).not.to.have.property('replacedBy');
    expect(JSON.parse(ride.events.at(-1)?.body ?? '')).to.include({ replacedBy: next, cancelReason: 'driver' });
    expect(ride.timers.map(({ name }) => name)).to.deep.equal(['rebid', 'driver']);
    expect((await jobFor(api.ctx, 'bidding', { rideId, timer: 'rebid' }))?.data).to.include({ rideId });
    expect(await exists(next)).to.equal(false);
    expect((await partner.get(`/rides/${rideId}`)).body).not.to.have.property('replacedBy');
  });

  it('the successor has the same request, replaces the ride, and is open for drivers', async () => {
    const fields = { reference: 'room 12', metadata: { desk: 'lobby' }, notes: 'two bags', passengerCount: 3 };
    const { rideId, next } = await cancelledRide(fields);
    expect(await run(rideId)).to.include({ result: 'done' });
    const { body } = await partner.get(`/rides/${next}`);
    const { notes, ...shown } = fields;
    expect(body).to.deep.include({ status: 'bidding', replaces: rideId, offersCount: 0, ...rebid, ...shown });
    expect((await storedRide(next)).notes).to.equal(notes);
    expect((await partner.get(`/rides/${rideId}`)).body).to.include({ replacedBy: next, status: 'cancelled' });
    expect((await jobFor(api.ctx, 'dispatch', { rideId: next, timer: 'dispatch' }))?.data).to.include({ rideId: next });
    expect((await storedRide(rideId)).timers.map(({ name }) => name)).to.deep.equal(['driver']);
  });

  it('the successor has the fare to which the ride was raised', async () => {
    const { rideId } = (await partner.createRide(rebid)).body;
    await partner.post(`/rides/${rideId}/fare`, { fare: 31 });
    const { offerId } = await offerOn(api.ctx, rideId);
    await partner.post(`/rides/${rideId}/accept`, { offerId });
    const { nextRideId = '' } = await cancelBy(rideId);
    await bringSuccessor(api.ctx, rideId);
    expect((await partner.get(`/rides/${nextRideId}`)).body.fare).to.equal(31);
  });

  it('ten concurrent runs and a repeated one insert exactly one successor', async () => {
    const { rideId, next } = await cancelledRide();
    await Promise.all(Array.from({ length: 10 }, () => run(rideId)));
    expect(await run(rideId)).to.deep.equal({ result: 'stale' });
    expect(await rides.countDocuments({ replaces: rideId })).to.equal(1);
    expect((await storedRide(next)).rev).to.equal(0);
  });

  it('a run after a crash between the insert and the end of the timer keeps the inserted successor', async () => {
    const { rideId, next } = await cancelledRide();
    const before = await storedRide(rideId);
    await run(rideId);
    const { trackToken } = await storedRide(next);
    // The state that the crash leaves: the successor exists, and the timer is still set.
    await rides.updateOne({ _id: rideId }, { $set: { timers: before.timers }, $unset: { replacedBy: '' } });
    expect(await run(rideId)).to.include({ result: 'done' });
    expect((await storedRide(next)).trackToken).to.equal(trackToken);
    expect((await storedRide(rideId)).replacedBy).to.equal(next);
  });

  it('the successor exists before its event is read from the ride or from the feed', async () => {
    const read = await cancelledRide();
    const { events } = (await partner.get(`/rides/${read.rideId}/events`)).body;
    expect(events.at(-1).body.replacedBy).to.equal(read.next);
    expect(await exists(read.next)).to.equal(true);

    const fed = await cancelledRide();
    let cursor = '';
    for (let seen = false; !seen; ) {
      const page = (await partner.get(`/events?waitSeconds=10&after=${cursor}`)).body;
      seen = page.events.some(({ body }: { body: { replacedBy?: string } }) => body.replacedBy === fed.next);
      cursor = page.cursor ?? '';
    }
    expect(await exists(fed.next)).to.equal(true);
  });

  it('the successor is not offered to the driver who cancelled, but to others', async () => {
    const pickup = somewhere();
    const [first, other] = [await newGatewayDriver(api, { at: pickup }), await newGatewayDriver(api, { at: pickup })];
    const { rideId } = (await partner.createRide({ ...rebid, pickup })).body;
    await runDispatch(api.ctx, rideId);
    const { offerId } = (await first.post(`/requests/${rideId}/offers`, { price: 25, etaMinutes: 5 })).body;
    await partner.post(`/rides/${rideId}/accept`, { offerId });
    await runDispatch(api.ctx, rideId, 'driver');
    await first.post('/ride/cancel', { rideId });
    await run(rideId);
    await runDispatch(api.ctx, rideId, 'driver');
    const next = (await storedRide(rideId)).replacedBy as string;
    await runDispatch(api.ctx, next);
    expect((await storedRide(next)).asked?.map(({ driverId }) => driverId)).to.deep.equal([other.driverId]);
  });

  it('a ride has at most three successors in a row, and excludes all drivers who cancelled', async () => {
    let { rideId, next } = await cancelledRide();
    const cancellers = [(await storedRide(rideId)).driver?.driverId];
    for (const place of [1, 2, 3]) {
      await run(rideId);
      rideId = next;
      expect(await storedRide(rideId)).to.deep.include({ rebids: place, excludedDrivers: cancellers });
      const { offerId } = await offerOn(api.ctx, rideId);
      cancellers.push((await applyAction(api.ctx, rideId, { action: 'accept', offerId }, 'anyone')).driver?.driverId);
      next = (await cancelBy(rideId)).nextRideId ?? '';
    }
    expect(next).to.equal('');
    expect((await storedRide(rideId)).timers.map(({ name }) => name)).to.deep.equal(['driver']);
  });

  it('the successor counts as no creation', async () => {
    const { rideId, next } = await cancelledRide();
    await run(rideId);
    const { accountId } = await storedRide(next);
    expect((await ridesByKey(accountId, [partner.keyId], Date.now())).get(partner.keyId)).to.equal(1);
    const period = { from: new Date(0), until: new Date(Date.now() + 86_400_000) };
    for (const atOnce of [1, 2, 20_000]) {
      const days = await countByDay(partner.keyId, period, async () => {}, atOnce);
      expect(days.reduce((sum, { count }) => sum + count, 0)).to.equal(1);
    }
    const { headers } = await partner.createRide();
    expect(headers.get('ratelimit')).to.match(/"minute";r=28/);
  });

  it('the old map leads to the new map once that exists', async () => {
    const { rideId, next } = await cancelledRide();
    const mapOf = async (id: string) => new URL((await partner.get(`/rides/${id}`)).body.trackUrl).pathname;
    const old = await mapOf(rideId);
    const page = await fetch(api.url + old, { redirect: 'manual' });
    expect(page.status).to.equal(200);
    expect(await page.text()).to.include('Finding another driver');
    await run(rideId);
    const { status, headers } = await fetch(api.url + old, { redirect: 'manual' });
    expect(status).to.equal(302);
    expect(new URL(headers.get('location') ?? '').pathname).to.equal(await mapOf(next));
    // The pickup of the new ride can be further ahead.
    await rides.updateOne({ _id: rideId }, { $set: { statusAt: new Date(Date.now() - 25 * 3_600_000) } });
    expect((await fetch(api.url + old, { redirect: 'manual' })).status).to.equal(302);
    expect((await fetch(`${api.url}${old}/state`)).status).to.equal(404);
  });

  it('the successor of a test ride with the scenario driver_cancels runs the default scenario, with another driver', async () => {
    const partner = await api.partner('test');
    const scenario = { 'x-service-test-scenario': 'driver_cancels' };
    const { rideId } = (await partner.createRide({ onDriverCancel: 'rebid' }, scenario)).body;
    const offerOf = async (id: string) => (await partner.post(`/test/rides/${id}/offer`)).body.offerId;
    await partner.post(`/rides/${rideId}/accept`, { offerId: await offerOf(rideId) });
    await partner.post(`/test/rides/${rideId}/cancel`);
    await bringSuccessor(api.ctx, rideId);
    const { replacedBy, driver } = (await partner.get(`/rides/${rideId}`)).body;
    expect(await storedRide(replacedBy)).to.include({ scenario: 'default', mode: 'test' });
    await partner.post(`/rides/${replacedBy}/accept`, { offerId: await offerOf(replacedBy) });
    const next = await storedRide(replacedBy);
    expect(next.driver?.plate).not.to.equal(driver.plate);
    expect(next.timers.map(({ name }) => name)).to.have.members(['stall', 'arrive']);
  });
});
