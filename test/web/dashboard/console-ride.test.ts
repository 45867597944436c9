import { expect } from 'chai';
import { auditOf } from '../../../shared/accounts/audit.ts';
import type { PageAnswer } from '../../support/dashboard.ts';
import { formIn, withoutRequestId } from '../../support/pages.ts';
import { offerOn } from '../../support/rides.ts';
import { storedRide } from '../../support/stored-rides.ts';
import { base, useTestConsole } from '../../support/test-console.ts';

describe('a ride of the test console', () => {
  const { api, visitor, started } = useTestConsole();
  const audited = async (rideId: string) =>
    (await auditOf(visitor.account._id, 20)).flatMap(({ action, about }) => (about === rideId ? action : []));

  for (const [action, outcome, entry] of [
    ['accept', { status: 'driver_arriving', seq: 2 }, 'offer_accepted'],
    ['cancel', { status: 'cancelled', cancelledBy: 'partner', seq: 2 }, 'ride_cancelled'],
  ] as const) {
    it(`two concurrent forms ${action} once, with one entry in the audit list`, async () => {
      const rideId = await started();
      const { offerId } = await offerOn(api.ctx, rideId);
      const send = () => visitor.post(`${base}/${rideId}/${action}`, { offerId });
      const answers = await Promise.all([send(), send()]);
      expect(answers.map(({ status }) => status)).to.deep.equal([303, 303]);
      expect(await storedRide(rideId)).to.include(outcome);
      expect(await audited(rideId)).to.deep.equal([entry]);
    });
  }

  it('the manual steps of the page take the ride from an offer to its end', async () => {
    const rideId = await started();
    const page = async () => (await visitor.get(`${base}/${rideId}`)).html;
    const send = async (name: string, changes: Record<string, string> = {}) => {
      const action = `${base}/${rideId}/steps/${name}`;
      const form = formIn(await page(), action);
      expect(form, name).to.not.equal(undefined);
      expect((await visitor.post(action, { ...form, ...changes })).headers.get('location')).to.equal(
        `${base}/${rideId}`,
      );
    };
    await send('offer');
    await send('offer', { price: '19.90', etaMinutes: '' });
    await send('withdraw');
    const ride = await storedRide(rideId);
    expect(ride.offers.map(({ price, withdrawnAt }) => [price, !!withdrawnAt])).to.deep.equal([
      [24.5, true],
      [19.9, false],
    ]);
    expect(ride.events[0]).to.include({ by: 'dashboard' });
    await visitor.post(`${base}/${rideId}/accept`, { offerId: ride.offers[1]?.offerId ?? '' });
    for (const name of ['arrive', 'start']) await send(name);
    const html = await page();
    expect(html)
      .to.include('Complete the trip')
      .and.include('Cancel as the driver')
      .and.include('Let the time run out');
    expect(html).not.to.include('Arrive at the pickup').and.not.include('Make an offer');
    await send('complete');
    expect(await page()).not.to.include('Manual steps');
    expect((await storedRide(rideId)).status).to.equal('completed');
  });

  it('the page shows why a step is refused', async () => {
    const rideId = await started();
    const faulty = await visitor.post(`${base}/${rideId}/steps/offer`, { price: 'much' });
    expect(faulty.status).to.equal(422);
    expect(faulty.html).to.include('The price must be a number').and.include('<title>Error: ');
    const early = await visitor.post(`${base}/${rideId}/steps/start`);
    expect(early.status).to.equal(409);
    expect(early.html).to.include('not in a status that allows this step');
    expect((await visitor.post(`${base}/${rideId}/steps/fly`)).status).to.equal(404);
  });

  it('every route answers the same 404 for a live ride as for an unknown one', async () => {
    const { rideId: live } = await visitor.rideIn('bidding');
    const answers: PageAnswer[] = [];
    for (const id of [live, 'ride_unknown']) {
      for (const path of ['', '/state', '/events']) answers.push(await visitor.get(`${base}/${id}${path}`));
      for (const path of ['/accept', '/cancel', '/steps/offer', '/steps/arrive']) {
        answers.push(await visitor.post(`${base}/${id}${path}`, { offerId: 'offer_1' }));
      }
    }
    const seen = new Set(answers.map(({ status, html }) => `${status} ${withoutRequestId(html)}`));
    expect([...seen].map((answer) => answer.slice(0, 4))).to.deep.equal(['404 ']);
    expect(await storedRide(live)).to.include({ status: 'bidding' });
  });
});
