import { expect } from 'chai';
import { rides } from '../../shared/rides/ride.ts';
import { openDue } from '../../workers/periodic/opener.ts';
import { newDriver, offerOn } from '../support/rides.ts';
import { usePartner, useTestApi } from '../support/service.ts';
import { makeDue, storedRide } from '../support/stored-rides.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

describe('creating rides for later', () => {
  const api = useTestApi();
  const partner = usePartner(api, 'live');
  const ahead = (ms: number) => Math.round(api.ctx.now()) + ms;

  it('pickupAt and biddingOpensAt are in the answer, the ride, the list and the events', async () => {
    const pickupAt = ahead(3 * day);
    const created = await partner.createRide({ pickupAt });
    const planned = { pickupAt, biddingOpensAt: pickupAt - 30 * minute };
    expect(created.body).to.include({ status: 'bidding', ...planned });
    const { rideId } = created.body;
    expect((await partner.get(`/rides/${rideId}`)).body).to.include(planned);
    expect((await partner.get('/rides')).body.rides[0]).to.include(planned);
    await makeDue(rideId, 'open');
    await openDue(api.ctx);
    const { offerId } = await offerOn(api.ctx, rideId, { driver: newDriver() });
    await partner.post(`/rides/${rideId}/accept`, { offerId });
    const biddingOpensAt = (await storedRide(rideId)).openedAt?.getTime();
    const { events } = (await partner.get(`/rides/${rideId}/events`)).body;
    for (const { body } of events) expect(body).to.include({ pickupAt, biddingOpensAt });
  });

  for (const [title, ms] of [
    ['14 minutes ahead', 14 * minute],
    ['in the past', -minute],
    ['31 days ahead', 31 * day],
  ] as const) {
    it(`a creation refuses a pickup ${title}, and does not charge for it`, async () => {
      const { status, body } = await partner.createRide({ pickupAt: ahead(ms) });
      expect(status).to.equal(400);
      expect(body.error).to.equal('pickupAt must be 15 minutes to 30 days ahead, as Unix time in milliseconds');
      const next = await partner.createRide();
      expect(next.headers.get('ratelimit')).to.match(/"minute";r=29/);
    });
  }

  it('a creation says that a pickupAt in seconds, or as a text, must be Unix time in milliseconds', async () => {
    const refused = async (pickupAt: unknown) => (await partner.createRide({ pickupAt })).body.error;
    const milliseconds = 'pickupAt must be Unix time in milliseconds, such as 1795269600000';
    expect(await refused(Math.floor(ahead(day) / 1_000))).to.equal(`${milliseconds}: this value is in seconds`);
    expect(await refused('2026-11-24T10:00:00Z')).to.equal(milliseconds);
  });

  it('a repeat with the same Idempotency-Key gets the same answer when the pickup is no longer 15 minutes ahead', async () => {
    const named = { 'idempotency-key': 'tomorrow' };
    const pickupAt = ahead(16 * minute);
    const first = await partner.createRide({ pickupAt }, named);
    // Moves the whole ride into the past, as if the repeat came an hour later.
    const past = new Date(ahead(-44 * minute));
    const request = { pickupAt: past.getTime() };
    const [ride] = await rides.find({ _id: first.body.rideId }).toArray();
    expect(ride?.pickupAt?.getTime()).to.equal(pickupAt);
    expect((await partner.createRide({ pickupAt }, named)).text).to.equal(first.text);
    expect((await partner.createRide(request, named)).status).to.equal(409);
    expect((await partner.createRide(request, { 'idempotency-key': 'new' })).status).to.equal(400);
  });

  it('a repeat after the opening gets the planned opening of the first answer', async () => {
    const named = { 'idempotency-key': 'planned' };
    const pickupAt = ahead(day);
    const first = await partner.createRide({ pickupAt }, named);
    await rides.updateOne({ _id: first.body.rideId }, { $set: { openedAt: new Date() } });
    expect((await partner.createRide({ pickupAt }, named)).text).to.equal(first.text);
  });

  it('the map of a waiting ride shows the time of the pickup, and from when drivers are asked', async () => {
    const pickupAt = ahead(2 * day);
    const { trackUrl } = (await partner.createRide({ pickupAt })).body;
    const path = new URL(trackUrl).pathname;
    const state = await (await fetch(`${api.url}${path}/state`)).json();
    expect(state).to.include({ status: 'bidding', pickupAt, opensAt: pickupAt - 30 * minute });
    expect(await (await fetch(api.url + path)).text()).to.include('Scheduled for ');
  });
});

describe('a test ride for later', () => {
  const api = useTestApi();
  const partner = usePartner(api, 'test');
  const later = async () => (await partner.createRide({ pickupAt: Math.round(api.ctx.now()) + day })).body.rideId;

  it('POST /test/rides/:rideId/open opens a ride for later now, and the simulated driver begins', async () => {
    const rideId = await later();
    expect((await partner.post(`/test/rides/${rideId}/offer`)).headers.get('x-service-error')).to.equal(
      'bidding_not_open',
    );
    const { status, body } = await partner.post(`/test/rides/${rideId}/open`);
    expect(status).to.equal(200);
    expect(body).to.deep.equal({ success: true, rideId, status: 'bidding' });
    const { timers, openedAt } = await storedRide(rideId);
    expect(timers.map(({ name }) => name)).to.have.members(['expire', 'offer']);
    expect((await partner.get(`/rides/${rideId}`)).body.biddingOpensAt).to.equal(openedAt?.getTime());
    expect((await partner.post(`/test/rides/${rideId}/offer`)).status).to.equal(200);
  });

  it('a ride for later that is cancelled by its timeout has the reason no_offers', async () => {
    const rideId = await later();
    await partner.post(`/test/rides/${rideId}/expire`);
    const { body } = await partner.get(`/rides/${rideId}`);
    expect(body).to.include({ status: 'cancelled', cancelledBy: 'timeout', cancelReason: 'no_offers' });
  });
});
