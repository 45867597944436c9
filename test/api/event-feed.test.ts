import { expect } from 'chai';
import { pollsWaiting } from '../../shared/base/metrics.ts';
import { revokeKey } from '../../shared/keys/manage-keys.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { readFeed } from '../../shared/rides/feed/event-feed.ts';
import { rides } from '../../shared/rides/ride.ts';
import { ageEvents, readFeedOf } from '../support/feed.ts';
import { plansOf } from '../support/plans.ts';
import { rawConnection, requestText } from '../support/raw-http.ts';
import { newRide, offerOn, rideWithEvents } from '../support/rides.ts';
import { usePartner, useTestApi } from '../support/service.ts';
import { storedRide } from '../support/stored-rides.ts';
import { until } from '../support/until.ts';

describe('reading events', () => {
  const api = useTestApi();
  const partner = usePartner(api, 'live');

  const ride = (count: number) => rideWithEvents(api.ctx, partner, count);
  const aged = async (count: number, byMs?: number) => {
    const rideId = await ride(count);
    await ageEvents(rideId, byMs);
    return rideId;
  };
  /** An event of this age is shown a moment later. */
  const almostShownMs = 2_900;
  const seqs = (events: { seq: number }[]) => events.map(({ seq }) => seq);
  const places = (events: { rideId: string; seq: number }[]) => events.map(({ rideId, seq }) => `${rideId} ${seq}`);
  /** All stored events of the key, in the feed's order. */
  const stored = async () =>
    (await rides.find({ keyId: partner.keyId }).toArray())
      .flatMap(({ _id: rideId, events }) => events.map((event) => ({ rideId, ...event })))
      .sort((a, b) => a.at.getTime() - b.at.getTime() || (a.rideId < b.rideId ? -1 : 1));

  it('the list has all events of a ride, each with id, body and delivery', async () => {
    const rideId = await ride(2);
    const delivery = { outcome: 'failed', httpStatus: 500, reason: 'status', durationMs: 7, at: new Date(5) };
    await rides.updateOne({ _id: rideId }, { $set: { 'events.0.delivery': delivery } });
    const { events } = await storedRide(rideId);
    const { status, body } = await partner.get(`/rides/${rideId}/events`);
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      rideId,
      events: events.map(({ seq, event, at, body: sent }, index) => ({
        eventId: `evt_${rideId.slice(5)}_${seq}`,
        rideId,
        seq,
        event,
        at: at.getTime(),
        body: JSON.parse(sent),
        delivery: index === 0 ? { ...delivery, at: 5 } : null,
      })),
      resends: [],
    });
  });

  it('the answer has the body of each event in the bytes that were signed, also for the price 1e-7', async () => {
    const rideId = await rideWithEvents(api.ctx, partner, 5, { offers: [{ price: 1e-7 }] });
    const sent = (await storedRide(rideId)).events.map(({ body }) => body);
    expect(sent[0]).to.include('"price":1e-7');
    const { text } = await partner.get(`/rides/${rideId}/events`);
    for (const body of sent) expect(text).to.include(`"body":${body}`);
  });

  it("an event shows the id of the partner's request, but not of a driver's request", async () => {
    const rideId = await newRide(api.ctx, { keyId: partner.keyId });
    const { offerId } = await offerOn(api.ctx, rideId);
    await rides.updateOne({ _id: rideId }, { $set: { 'events.0.by': 'driver', 'events.0.requestId': 'of-driver' } });
    await partner.post(`/rides/${rideId}/accept`, { offerId }, { 'x-request-id': 'desk-4711' });
    const { body } = await partner.get(`/rides/${rideId}/events`);
    expect(body.events.map(({ requestId }: { requestId?: string }) => requestId)).to.deep.equal([
      undefined,
      'desk-4711',
    ]);
  });

  it('the list has only the events of a ride after the given seq', async () => {
    const rideId = await ride(4);
    for (const [after, expected] of [
      [0, [1, 2, 3, 4]],
      [2, [3, 4]],
      [4, []],
      [99, []],
    ] as const) {
      expect(seqs((await partner.get(`/rides/${rideId}/events?after=${after}`)).body.events)).to.deep.equal(expected);
    }
  });

  it('a long poll for events of a ride answers as soon as a new event exists', async () => {
    const rideId = await ride(1);
    const poll = partner.get(`/rides/${rideId}/events?after=1&waitSeconds=30`);
    await applyAction(api.ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone');
    expect(seqs((await poll).body.events)).to.deep.equal([2]);
  });

  it('the feed lists the events of all rides of its own key by time, in pages of any size', async () => {
    await rideWithEvents(api.ctx, await api.partner('live'), 3);
    for (const count of [3, 5, 1, 4]) await aged(count);
    const expected = places(await stored());
    expect(expected).to.have.lengthOf(13);
    for (const limit of [1, 2, 5, 100]) expect(places(await readFeedOf(partner, limit))).to.deep.equal(expected);
  });

  it('the feed has a fixed order for events with the same time', async () => {
    const ids = [];
    for (let made = 0; made < 7; made++) ids.push(await ride(2));
    const [first, second] = [new Date(Date.now() - 2 * 3_600_000), new Date(Date.now() - 3_600_000)];
    await rides.updateMany({ _id: { $in: ids } }, { $set: { 'events.0.at': first, 'events.1.at': second } });
    const expected = places(await stored());
    for (const limit of [1, 3, 7]) expect(places(await readFeedOf(partner, limit))).to.deep.equal(expected);
  });

  it('the feed shows events only once they are 3 s old, so that none appears out of order', async () => {
    const old = await aged(2);
    await ride(2);
    expect(places(await readFeedOf(partner))).to.deep.equal([`${old} 1`, `${old} 2`]);
    await until(async () => (await readFeedOf(partner)).length === 4, 100);
  });

  it('the feed continues after the cursor, which stays the same if no event follows', async () => {
    await aged(3);
    const { body } = await partner.get('/events?limit=2');
    expect(body.hasMore).to.equal(true);
    const rest = (await partner.get(`/events?after=${body.cursor}`)).body;
    expect(seqs(rest.events)).to.deep.equal([3]);
    expect(rest.hasMore).to.equal(false);
    const none = (await partner.get(`/events?after=${rest.cursor}`)).body;
    expect(none).to.deep.equal({ events: [], cursor: rest.cursor, hasMore: false });
  });

  it('the cursor `now` skips all earlier events', async () => {
    await aged(3);
    const { body } = await partner.get('/events?after=now');
    expect(body.events).to.deep.equal([]);
    const rideId = await ride(1);
    const later = await partner.get(`/events?after=${body.cursor}&waitSeconds=10`);
    expect(places(later.body.events)).to.deep.equal([`${rideId} 1`]);
  });

  it('the feed shows the body null for an erased event', async () => {
    const rideId = await aged(2);
    await rides.updateOne({ _id: rideId }, { $set: { 'events.0.body': '' } });
    expect((await readFeedOf(partner)).map(({ body }) => body === null)).to.deep.equal([true, false]);
  });

  it('the feed of a new key is empty with cursor null, and treats empty parameters as absent', async () => {
    const { body } = await partner.get('/events?after=&waitSeconds=');
    expect(body).to.deep.equal({ events: [], cursor: null, hasMore: false });
  });

  it('one new event answers all of 20 long polls', async () => {
    const polls = Array.from({ length: 20 }, () => partner.get('/events?waitSeconds=30'));
    const rideId = await aged(1, almostShownMs);
    for (const { body } of await Promise.all(polls)) expect(places(body.events)).to.deep.equal([`${rideId} 1`]);
  });

  it('a long poll answers 401 if its key is revoked while it waits', async () => {
    const poll = partner.get('/events?waitSeconds=30');
    await aged(1, almostShownMs);
    await revokeKey(partner.keyId, 'anyone');
    expect((await poll).status).to.equal(401);
  });

  it('reading the feed uses an index and no sort', async () => {
    await aged(3);
    const [plan] = await plansOf(() => readFeed(partner.keyId, null, 2, Date.now()));
    expect(plan?.stages).to.include('IXSCAN').and.not.include('"SORT');
    expect(plan?.executionStats.totalKeysExamined).to.be.at.most(4);
  });

  it('a long poll answers without events when its time is over', async () => {
    const rideId = await ride(1);
    const [ofRide, ofKey] = await Promise.all([
      partner.get(`/rides/${rideId}/events?after=1&waitSeconds=1`),
      partner.get('/events?after=now&waitSeconds=1'),
    ]);
    expect(ofRide.body).to.deep.equal({ rideId, events: [], resends: [] });
    expect(ofKey.body.events).to.deep.equal([]);
  });

  it('a long poll without events answers 401 if its key was revoked while it waited', async () => {
    const rideId = await ride(1);
    const polls = [`/rides/${rideId}/events?after=1`, '/events?after=now'].map((path) =>
      partner.get(`${path}&waitSeconds=2`),
    );
    await until(async () => (await pollsWaiting.get()).values[0]?.value === 2);
    await revokeKey(partner.keyId, 'anyone');
    expect((await Promise.all(polls)).map(({ status }) => status)).to.deep.equal([401, 401]);
  });

  it('a HEAD does not wait for events, nor does a client that has closed its side of the connection', async () => {
    const { url } = api;
    const head = await fetch(`${url}/v1/events?waitSeconds=30`, {
      method: 'HEAD',
      headers: { 'x-api-key': partner.key },
    });
    expect(head.status).to.equal(200);
    const connection = rawConnection(Number(new URL(url).port));
    const lines = ['GET /v1/events?waitSeconds=30 HTTP/1.1', 'Host: rides.example', `X-Api-Key: ${partner.key}`];
    connection.socket.end(requestText(lines));
    const [answer] = await connection.answers(1);
    expect(answer?.status).to.equal(200);
  });

  for (const [query, named] of [
    ['/events?after=x', 'after'],
    ['/events?after=cur_1', 'after'],
    ['/events?waitSeconds=31', 'waitSeconds'],
    ['/events?after=now&after=now', 'after'],
    ['/rides/RIDE/events?after=cur_x', 'after'],
  ] as const) {
    it(`${query} answers 400 and names the invalid parameter`, async () => {
      const path = query.replace('RIDE', await newRide(api.ctx, { keyId: partner.keyId }));
      const { status, body } = await partner.get(path);
      expect(status).to.equal(400);
      expect(body.error.startsWith(`${named} must`), body.error).to.equal(true);
    });
  }
});
