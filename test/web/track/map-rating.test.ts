import { expect } from 'chai';
import { eraseRide } from '../../../shared/retention/erase-rides.ts';
import { rateRide } from '../../../shared/rides/passenger-actions.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { completedRide } from '../../support/rated-rides.ts';
import { rideIn } from '../../support/rides.ts';
import { usePartner, useTestApi } from '../../support/service.ts';
import { storedRide } from '../../support/stored-rides.ts';

describe('the rating of a ride on its live map', () => {
  const api = useTestApi({ TRUSTED_PROXY_HOPS: '1' });
  const partner = usePartner(api, 'live');
  const tester = usePartner(api);

  const mapOf = async (rideId: string) => `${api.url}/track/${(await storedRide(rideId)).trackToken}`;
  const send = async (rideId: string, form: Record<string, string>, client = '203.0.113.1', language = 'en') =>
    fetch(`${await mapOf(rideId)}/rating`, {
      ...{ method: 'POST', redirect: 'manual', body: new URLSearchParams(form) },
      headers: { 'X-Forwarded-For': client, 'Accept-Language': language },
    });
  const pageOf = async (rideId: string) => (await fetch(await mapOf(rideId))).text();
  const asks = (page: string) => /<form class="rate"(?![^>]* hidden)/.test(page);

  const comment = ' Friendly driver,\r\nclean car ';
  for (const [name, by] of Object.entries({ live: () => partner, test: () => tester })) {
    it(`a ${name} ride is rated once, without an event, and its partner sees the rating`, async () => {
      const rideId = await completedRide(api.ctx, 61, { by: by() });
      const { seq } = await storedRide(rideId);
      expect(asks(await pageOf(rideId))).to.equal(true);
      const answers = await Promise.all([1, 2, 3].map(() => send(rideId, { stars: '4', comment })));
      const map = new URL(await mapOf(rideId)).pathname;
      for (const answer of answers) expect([answer.status, answer.headers.get('location')]).to.deep.equal([303, map]);
      await send(rideId, { stars: '1' });
      const ride = await storedRide(rideId);
      const at = ride.rating?.at.getTime();
      expect([ride.seq, ride.rating?.stars]).to.deep.equal([seq, 4]);
      const page = await pageOf(rideId);
      expect([asks(page), page.includes('Thank you for your rating')]).to.deep.equal([false, true]);
      expect(page).not.to.include('Friendly');
      const shown = { stars: 4, comment: 'Friendly driver,\nclean car', at };
      expect((await by().get(`/rides/${rideId}`)).body.rating).to.deep.equal(shown);
      expect((await by().get('/rides')).body.rides[0].rating).to.deep.equal(shown);
    });
  }

  const unratable: [string, () => Promise<string>][] = [
    ['that ended less than a minute ago', () => completedRide(api.ctx, 50)],
    ['under way', async () => (await rideIn(api.ctx, 'in_progress')).rideId],
    ['that was cancelled', async () => (await rideIn(api.ctx, 'cancelled')).rideId],
  ];
  for (const [name, make] of unratable) {
    it(`a ride ${name} gets no rating`, async () => {
      const rideId = await make();
      expect(asks(await pageOf(rideId))).to.equal(false);
      expect((await send(rideId, { stars: '4' })).status).to.equal(303);
      expect(await storedRide(rideId)).not.to.have.property('rating');
    });
  }

  it('forms with other stars or a longer comment are refused, and 300 characters are stored', async () => {
    const rideId = await completedRide(api.ctx, 61);
    const forms: Record<string, string>[] = [
      {},
      { stars: '0' },
      { stars: '6' },
      { stars: '4.5' },
      { stars: '4', comment: '😀'.repeat(301) },
    ];
    for (const form of forms) expect((await send(rideId, form)).status, JSON.stringify(form)).to.equal(400);
    await send(rideId, { stars: '4', comment: '😀'.repeat(300) });
    expect((await storedRide(rideId)).rating?.comment).to.equal('😀'.repeat(300));
  });

  it('ratings with an expired link or from a network with many ratings are refused', async () => {
    const expired = await completedRide(api.ctx, 25 * 3_600);
    expect((await send(expired, { stars: '4' })).status).to.equal(404);
    for (let sent = 0; sent < 30; sent++) await send(expired, { stars: '4' }, '203.0.113.2');
    const refused = await send(expired, { stars: '4' }, '203.0.113.2', 'de');
    expect([refused.status, (await refused.text()).includes('Das geht gerade nicht')]).to.deep.equal([429, true]);
  });

  it('erasure removes the comment and keeps the stars, and an erased ride gets no rating', async () => {
    const [rated, unrated] = [await completedRide(api.ctx, 61), await completedRide(api.ctx, 61)];
    await send(rated, { stars: '4', comment });
    const before = await storedRide(unrated);
    await rides.updateMany({ _id: { $in: [rated, unrated] } }, { $set: { unsettled: 0 } });
    for (const rideId of [rated, unrated]) await eraseRide(rideId);
    expect((await storedRide(rated)).rating).to.have.all.keys('stars', 'at');
    await rateRide(api.ctx, before, { stars: 4, comment });
    expect(await storedRide(unrated)).not.to.have.property('rating');
  });
});
