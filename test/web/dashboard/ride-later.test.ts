import { expect } from 'chai';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { formIn, hrefsIn, textOf } from '../../support/pages.ts';
import { newRide, rideIn } from '../../support/rides.ts';
import { storedRide } from '../../support/stored-rides.ts';
import { base, useTestConsole } from '../../support/test-console.ts';

const hour = 3_600_000;

describe('rides for later and successors in the dashboard', () => {
  const { api, visitor, key, started, fields } = useTestConsole();
  const own = () => ({ keyId: key.keyId, accountId: visitor.account._id, mode: 'test' as const });
  const pageOf = async (rideId: string) => (await visitor.get(`/dashboard/rides/${rideId}`)).html;
  /** The text of a `datetime-local` field. */
  const timeText = (at: number) => new Date(at).toISOString().slice(0, 16);

  it('the page and the list of rides show the pickup time of a ride that waits, and from when drivers are asked', async () => {
    const pickupAt = new Date(Math.round(api.ctx.now()) + 26 * hour);
    const rideId = await newRide(api.ctx, { ...own(), pickupAt, needs: ['pet'], scenario: 'no_offers' });
    const { biddingOpensAt } = await storedRide(rideId);
    const html = await pageOf(rideId);
    const text = textOf(html);
    expect(text)
      .to.match(/Scheduled for \d{4}/)
      .and.match(/Needs pet/)
      .and.match(/Drivers are asked from \d{4}/);
    for (const at of [pickupAt, biddingOpensAt as Date]) expect(html).to.include(`datetime="${at.toISOString()}"`);
    expect(textOf((await visitor.get('/dashboard/rides')).html)).to.match(/Bidding Scheduled for \d{4}/i);
  });

  it('the page of a cancelled ride links to its successor, which exists by then, and back', async () => {
    const { rideId } = await rideIn(api.ctx, 'driver_arriving', {
      ...own(),
      onDriverCancel: 'rebid',
      scenario: 'no_offers',
    });
    const { nextRideId = '' } = await applyAction(api.ctx, rideId, { action: 'cancel', by: 'driver' }, 'anyone');
    expect(await rides.countDocuments({ _id: nextRideId })).to.equal(0);
    const html = await pageOf(rideId);
    expect(await rides.countDocuments({ _id: nextRideId })).to.equal(1);
    expect(textOf(html)).to.include('Cancelled The driver cancelled').and.include('Replaced by');
    expect(hrefsIn(html)).to.include(`/dashboard/rides/${nextRideId}`);
    expect(hrefsIn(await pageOf(nextRideId))).to.include(`/dashboard/rides/${rideId}`);
  });

  it('the console creates a ride for later from a time in UTC, and opens it', async () => {
    const pickupAt = Math.ceil((api.ctx.now() + 2 * hour) / 60_000) * 60_000;
    const rideId = await started({ pickupTime: timeText(pickupAt), needs: 'pet, child_seat', onDriverCancel: 'rebid' });
    const ride = await storedRide(rideId);
    expect(ride).to.deep.include({
      pickupAt: new Date(pickupAt),
      needs: ['child_seat', 'pet'],
      onDriverCancel: 'rebid',
    });
    const step = (name: string) => `${base}/${rideId}/steps/${name}`;
    const waiting = await visitor.get(`${base}/${rideId}`);
    expect(textOf(waiting.html)).to.include('Open for offers now').and.include(`"pickupAt": ${pickupAt}`);
    expect(formIn(waiting.html, step('offer'))).to.equal(undefined);
    for (const time of ['first', 'second'])
      expect((await visitor.post(step('open'), formIn(waiting.html, step('open')))).status, time).to.equal(303);
    expect((await storedRide(rideId)).openedAt).to.be.instanceOf(Date);
    const open = await visitor.get(`${base}/${rideId}`);
    expect(formIn(open.html, step('open'))).to.equal(undefined);
    expect(formIn(open.html, step('offer'))).to.be.an('object');
  });

  it('the console refuses a pickup time that is too near, and needs that it does not know', async () => {
    const near = await visitor.post(base, fields({ pickupTime: timeText(api.ctx.now() + 60_000) }));
    expect(near.status).to.equal(400);
    expect(textOf(near.html)).to.include('The pickup time must be 15 minutes to 30 days ahead.');
    const unknown = await visitor.post(base, fields({ needs: 'boat' }));
    expect(unknown.status).to.equal(422);
    expect(unknown.html).to.include('href="#needs"');
  });
});
