import { expect } from 'chai';
import { newAttemptId } from '../../shared/base/ids.ts';
import { createKey } from '../../shared/keys/manage-keys.ts';
import { eraseRide } from '../../shared/retention/erase-rides.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { monthOf } from '../../shared/usage/days.ts';
import { type AttemptRecord, attempts } from '../../shared/webhooks/attempts.ts';
import { clientOf } from '../support/client.ts';
import { signedIn } from '../support/dashboard.ts';
import { endedRide, personal, personalIn } from '../support/ended-rides.ts';
import { ageEvents, readFeedOf, type ShownEvent } from '../support/feed.ts';
import { formIn, hrefsIn, textOf } from '../support/pages.ts';
import { useTestApi } from '../support/service.ts';
import { outcomeOf, storedRide } from '../support/stored-rides.ts';

describe('an erased ride', () => {
  const api = useTestApi();

  /** Creates an erased ride of a new account; the ride ended a minute ago. */
  async function erased() {
    const visitor = await signedIn(api);
    const accountId = visitor.account._id;
    const key = await createKey(api.ctx.config, { accountId, name: 'Front desk', mode: 'live' });
    const before = await endedRide(api.ctx, 1 / 1_440, { keyId: key.keyId, accountId });
    expect(await eraseRide(before._id)).to.equal(accountId);
    return { visitor, client: clientOf(api.url, key.key), before, rideId: before._id };
  }
  const withoutPersonal = (text: string) => expect(personal.filter((one) => text.includes(one))).to.deep.equal([]);

  it('an erased ride keeps neither its Idempotency-Key nor ids of requests, and a repeat of its creation gets a 410', async () => {
    const { client } = await erased();
    const headers = { 'idempotency-key': 'ada-lovelace-70133', 'x-request-id': 'desk-of-ada-lovelace' };
    const { body } = await client.createRide({}, headers);
    await client.post(`/rides/${body.rideId}/cancel`, undefined, headers);
    await rides.updateOne({ _id: body.rideId }, { $set: { unsettled: 0 } });
    await attempts.insertOne({
      _id: newAttemptId(Date.now()),
      rideId: body.rideId,
      requestId: headers['x-request-id'],
    } as AttemptRecord);
    await eraseRide(body.rideId);
    const stored = await storedRide(body.rideId);
    const kept = JSON.stringify([stored, await attempts.find({ rideId: body.rideId }).toArray()]);
    expect(kept).not.to.include('lovelace');
    expect(stored.idempotency).to.have.all.keys('key', 'expiresAt');
    for (const fields of [{}, { fare: 99 }]) {
      const again = await client.createRide(fields, headers);
      expect([again.status, again.headers.get('x-service-error')]).to.deep.equal([410, 'ride_erased']);
    }
    expect((await client.createRide({}, { 'idempotency-key': 'another' })).status).to.equal(201);
  });

  it('an erased ride and its offers can be retrieved, without personal data', async () => {
    const { client, before, rideId } = await erased();
    const { status, body } = await client.get(`/rides/${rideId}`);
    expect(status).to.equal(200);
    expect(body).to.deep.include({
      status: 'completed',
      fare: before.fare,
      agreedPrice: before.agreedPrice,
      pickup: { lat: 40.71, lng: -74.01 },
      offersCount: before.offers.length,
      driver: { name: '', phone: '', vehicle: '', plate: '', rating: before.driver?.rating },
    });
    const offers = await client.get(`/rides/${rideId}/offers`);
    expect(offers.status).to.equal(200);
    withoutPersonal(JSON.stringify([body, offers.body]));
  });

  it('the events of an erased ride stay in the feed with body null, except those of offers that were not accepted, and a search for its reference finds nothing', async () => {
    const { client, before, rideId } = await erased();
    await ageEvents(rideId);
    const { events } = (await client.get(`/rides/${rideId}/events`)).body;
    expect(await readFeedOf(client)).to.deep.equal(events);
    expect(events.map(({ seq, body }: ShownEvent) => [seq, body])).to.deep.equal(
      [1, 3, 4, 5, 6].map((seq) => [seq, null]),
    );
    for (const { delivery } of events) expect(delivery).to.include({ outcome: 'delivered' });
    const listed = async (query: string) =>
      (await client.get(`/rides?${query}`)).body.rides.map((ride: { rideId: string }) => ride.rideId);
    expect(await listed('status=completed')).to.deep.equal([rideId]);
    expect(await listed(`reference=${before.reference}`)).to.deep.equal([]);
    withoutPersonal(JSON.stringify([events, (await client.get('/rides')).body]));
  });

  it('the track link of an erased ride answers like any expired link', async () => {
    const { client, before, rideId } = await erased();
    const { trackUrl } = (await client.get(`/rides/${rideId}`)).body;
    expect(trackUrl).to.equal('https://rides.example/track/erased');
    for (const token of ['erased', before.trackToken]) {
      for (const below of ['', '/state', '/events']) {
        const answer = await fetch(`${api.url}/track/${token}${below}`);
        expect(answer.status, below).to.equal(404);
        expect(await answer.text()).to.include('This link is no longer valid');
      }
    }
  });

  it('the pages of an erased ride say that it was erased, without a link to the map and without resend', async () => {
    const { visitor, before, rideId } = await erased();
    const path = `/dashboard/rides/${rideId}`;
    const created = await visitor.get(`${path}?entry=created`);
    const pages = [created, await visitor.get(`${path}?entry=event-3`), await visitor.get(`${path}?entry=delivery-3`)];
    for (const { status, html } of pages) {
      expect(status).to.equal(200);
      expect(textOf(html)).to.include('The personal data of this ride was erased on').and.include('Trip completed');
      withoutPersonal(html);
      expect(hrefsIn(html).filter((href) => href.includes('/track/'))).to.deep.equal([]);
      expect(formIn(html, `${path}/events/3/send-again`)).to.equal(undefined);
    }
    expect(textOf(pages[1]?.html ?? '')).to.include('The body of this event is no longer kept.');
    expect(textOf(pages[2]?.html ?? '')).to.include('The request and the answer are no longer kept.');
    expect((await visitor.post(`${path}/events/2/send-again`)).status).to.equal(410);
    const sent = await visitor.post(`${path}/events/3/send-again`);
    expect(sent.status).to.equal(410);
    const attempt = await attempts.findOne({ rideId, seq: 3 });
    const delivery = await visitor.get(`/dashboard/deliveries/${attempt?._id}`);
    expect(textOf(delivery.html)).to.include('The request and the answer are no longer kept.');
    const list = await visitor.get('/dashboard/rides');
    expect(hrefsIn(list.html)).to.include(path);
    expect((await storedRide(rideId)).seq).to.equal(before.seq);
  });

  it('an erased ride stays in the statement of its month, with its price', async () => {
    const { visitor, before, rideId } = await erased();
    const month = monthOf(before.statusAt);
    for (const path of [`/dashboard/usage/${month}`, `/dashboard/usage/${month}/statement.csv`]) {
      const { status, html } = await visitor.get(path);
      expect(status, path).to.equal(200);
      expect(html).to.include(rideId).and.include('20.00');
      withoutPersonal(html);
    }
  });

  const refused = async ({ _id }: Pick<Ride, '_id'>) => {
    const before = await rides.findOne({ _id });
    expect(await outcomeOf(eraseRide(_id))).to.equal('not_erasable');
    expect(await rides.findOne({ _id })).to.deep.equal(before);
  };

  it('a ride that a restore holds, because it has an event to send, is refused', async () => {
    const ride = await endedRide(api.ctx, 1);
    await rides.updateOne({ _id: ride._id }, { $set: { unsettled: -1, heldAt: new Date() } });
    await refused(ride);
  });

  it('a ride with a pending resend cannot be erased', async () => {
    const ride = await endedRide(api.ctx, 1);
    await attempts.updateOne({ rideId: ride._id }, { $set: { dueAt: new Date() } });
    await refused(ride);
    expect(await personalIn(ride._id)).to.deep.equal(personal);
  });
});
