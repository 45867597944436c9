import { expect } from 'chai';
import { AuditModel, auditOf } from '../../../shared/accounts/audit.ts';
import { suspendKey } from '../../../shared/keys/manage-keys.ts';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { newFormId, useVisitor } from '../../support/dashboard.ts';
import { formIn, hrefsIn, textOf } from '../../support/pages.ts';
import { newDriver } from '../../support/rides.ts';
import { useTestApi } from '../../support/service.ts';
import { endBidding, storedRide } from '../../support/stored-rides.ts';
import { memberOf } from '../../support/team.ts';

describe("accept and cancel on a ride's page", () => {
  const api = useTestApi({ TRUSTED_PROXY_HOPS: '1' });
  const visitor = useVisitor(api);

  const audited = async () =>
    (await auditOf(visitor.account._id, 10)).map(({ action, about, keyId, from }) => ({ action, about, keyId, from }));
  const from = { 'x-forwarded-for': '203.0.113.7' };

  it('shows the live offers with what is best in each, in the order of their arrival', async () => {
    const { path } = await visitor.rideIn('bidding', {
      fare: 25,
      offers: [
        { driver: newDriver({ name: 'Dana Okoye' }), price: 31, etaMinutes: 2 },
        { driver: newDriver({ name: 'Alex Rivera' }), price: 24.5, etaMinutes: 9 },
        { driver: newDriver({ name: 'Sam Ito' }), price: 25, etaMinutes: 5 },
      ],
    });
    const { html } = await visitor.get(path);
    const rows = [...html.matchAll(/<tr id="offer_.*?<\/tr>/gs)].map(([row]) => textOf(row));
    expect(rows.map((row) => /Dana|Alex|Sam/.exec(row)?.[0])).to.deep.equal(['Dana', 'Alex', 'Sam']);
    expect(rows.map((row) => [row.includes('cheapest'), row.includes('fastest')])).to.deep.equal([
      [false, true],
      [true, false],
      [false, false],
    ]);
    expect(rows[0]).to.match(/6\.00.* above the fare/);
    expect(rows[1]).to.match(/0\.50.* below the fare/);
    expect(rows[2]).to.include('at the fare');
  });

  it('accepts an offer like the API, and adds one entry to the audit list', async () => {
    const { path, rideId, keyId, offers } = await visitor.rideIn('bidding', { offers: [{}, { price: 22 }] });
    const [, chosen] = offers;
    const form = formIn((await visitor.get(path)).html, `${path}/accept`);
    const fields = { ...form, offerId: chosen?.offerId ?? '' };
    const first = await visitor.post(`${path}/accept`, fields, from);
    expect([first.status, first.headers.get('location')]).to.deep.equal([303, path]);
    const ride = await storedRide(rideId);
    expect(ride).to.include({ status: 'driver_arriving', acceptedOfferId: chosen?.offerId, agreedPrice: 22 });
    expect(ride.events.at(-1)).to.include({ event: 'ride.status', by: 'dashboard' });
    expect(await audited()).to.deep.equal([{ action: 'offer_accepted', about: rideId, keyId, from: '203.0.113.7' }]);
    expect(textOf((await visitor.get('/dashboard/account')).html)).to.include('accepted an offer for a ride');
  });

  it('the audit list names the member who made a change, also if another member sends the same form', async () => {
    const { path, rideId, offerId } = await visitor.rideIn('bidding');
    const colleague = await memberOf(api, visitor.account._id, 'desk');
    const fields = { offerId, formId: newFormId() };
    await visitor.post(`${path}/accept`, fields, from);
    // The first request was interrupted before it added its entry.
    await AuditModel.deleteMany({ accountId: visitor.account._id });
    const again = await colleague.post(`${path}/accept`, fields, { 'x-forwarded-for': '203.0.113.8' });
    expect(again.status).to.equal(303);
    const [entry] = await auditOf(visitor.account._id, 10);
    const made = { action: 'offer_accepted', about: rideId, member: visitor.account.email, from: '203.0.113.7' };
    expect(entry).to.include(made);
  });

  it('asks before it cancels a ride, then cancels it like the API and adds one entry to the audit list', async () => {
    const wish = { offers: [{ driver: newDriver({ name: 'Dana Okoye' }) }], passenger: { name: 'Ada Lovelace' } };
    const { path, rideId, keyId } = await visitor.rideIn('arrived', wish);
    const asked = await visitor.get(`${path}/cancel`);
    expect(textOf(asked.html)).to.include('Cancel this ride?').and.include('Ada Lovelace').and.include('Dana Okoye');
    expect(hrefsIn(asked.html)).to.include(path);
    expect(await storedRide(rideId)).to.include({ status: 'arrived' });
    const form = formIn(asked.html, `${path}/cancel`);
    const answer = await visitor.post(`${path}/cancel`, form, from);
    expect([answer.status, answer.headers.get('location')]).to.deep.equal([303, path]);
    const ride = await storedRide(rideId);
    expect(ride).to.include({ status: 'cancelled', cancelledBy: 'partner' });
    expect(ride.events.at(-1)).to.include({ event: 'ride.status', by: 'dashboard' });
    expect(await audited()).to.deep.equal([{ action: 'ride_cancelled', about: rideId, keyId, from: '203.0.113.7' }]);
  });

  it('explains a refusal on the page of the ride, and adds no entry to the audit list', async () => {
    const ended = await visitor.rideIn('completed');
    const late = await visitor.rideIn('bidding');
    await endBidding(late.rideId);
    const withdrawn = await visitor.rideIn('bidding');
    const { offerId } = withdrawn;
    await applyAction(api.ctx, withdrawn.rideId, { action: 'withdrawOffer', offerId }, 'anyone');
    const refused = [
      [ended, 'cancel', {}, 409, 'The ride is already completed or cancelled'],
      [ended, 'accept', { offerId: ended.offers[0]?.offerId ?? '' }, 409, 'no longer open for bidding'],
      [late, 'accept', { offerId: late.offerId }, 409, 'The bidding time of this ride is over'],
      [withdrawn, 'accept', { offerId }, 409, 'The offer was withdrawn'],
      [withdrawn, 'accept', { offerId: 'offer_of_nobody' }, 404, 'Offer not found'],
    ] as const;
    for (const [{ path, rideId }, action, fields, status, words] of refused) {
      const before = await storedRide(rideId);
      const answer = await visitor.post(`${path}/${action}`, fields);
      expect(answer.status, words).to.equal(status);
      expect(textOf(answer.html)).to.include(words).and.include('The current state of the ride is shown below');
      expect(answer.html).to.include('<title>Error: ').and.include(`data-here="${path}"`);
      expect(await storedRide(rideId)).to.deep.equal(before);
    }
    expect(await audited()).to.deep.equal([]);
  });

  it('refuses to accept an offer for a suspended key, whose ride can still be cancelled', async () => {
    const { path, rideId, keyId, offerId } = await visitor.rideIn('bidding');
    await suspendKey(keyId);
    const accepted = await visitor.post(`${path}/accept`, { offerId });
    expect(accepted.status).to.equal(403);
    expect(textOf(accepted.html)).to.include('The operator has suspended the key of this ride');
    expect(await storedRide(rideId)).to.include({ status: 'bidding' });
    expect((await visitor.post(`${path}/cancel`, {})).status).to.equal(303);
    expect(await storedRide(rideId)).to.include({ status: 'cancelled' });
  });

  it('shows no way to accept or cancel once a ride has ended', async () => {
    const { path } = await visitor.rideIn('completed');
    const { html } = await visitor.get(path);
    expect(formIn(html, `${path}/accept`)).to.equal(undefined);
    expect(formIn(html, `${path}/cancel`)).to.equal(undefined);
    const asked = await visitor.get(`${path}/cancel`);
    expect([asked.status, asked.headers.get('location')]).to.deep.equal([303, path]);
  });
});
