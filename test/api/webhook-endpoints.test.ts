import { expect } from 'chai';
import { auditOf } from '../../shared/accounts/audit.ts';
import { eventId, withdrawnEventId } from '../../shared/base/ids.ts';
import type { JsonSchema } from '../../shared/base/json-schema.ts';
import { keys } from '../../shared/keys/api-key.ts';
import { settingsMaxAgeMs } from '../../shared/keys/delivery-settings.ts';
import { createKey, type NewKey } from '../../shared/keys/manage-keys.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { attempts } from '../../shared/webhooks/attempts.ts';
import { storeOwedWithdrawals } from '../../shared/webhooks/copies-of-event.ts';
import { sweep } from '../../workers/periodic/sweeper/sweep.ts';
import { type Client, clientOf } from '../support/client.ts';
import { isSignedWith } from '../support/deliveries.ts';
import { documentedSchemas } from '../support/documented.ts';
import { useReceiver } from '../support/receiver.ts';
import { offerOn, rideIn } from '../support/rides.ts';
import { useTestApi } from '../support/service.ts';
import { jobFor, storedRide } from '../support/stored-rides.ts';
import { until } from '../support/until.ts';
import { useTestService } from '../support/workers.ts';

describe('/webhook-endpoints', () => {
  const receiver = useReceiver();
  const api = useTestService(() => ({ WEBHOOK_LOCAL_TARGETS: receiver.origin }));
  let partner: Client & { keyId: string };
  beforeEach(async () => {
    partner = await api.partner('test', `${receiver.origin}/first`);
  });

  const add = (events?: string[], by: Client = partner) =>
    by.post('/webhook-endpoints', { url: `${receiver.origin}/second`, ...(events && { events }) });
  const remove = (endpointId: string, by: Client = partner) => by.send('DELETE', `/webhook-endpoints/${endpointId}`);
  const arrived = (path: string) => receiver.receipts.filter((receipt) => receipt.path === path);
  const numbersAt = (path: string) => arrived(path).map(({ body }) => body.sequence ?? body.event);

  it('an endpoint gets the events after the answer, and nothing once it is deleted', async () => {
    const { status, body } = await add();
    expect(status).to.equal(201);
    const { rideId } = await rideIn(api.ctx, 'driver_arriving', { by: partner });
    await until(async () => arrived('/second').length === 2 && arrived('/first').length === 2);
    expect([numbersAt('/first'), numbersAt('/second')]).to.deep.equal([
      [1, 2],
      [1, 2],
    ]);
    expect(isSignedWith(body.signingSecret, arrived('/second')[0])).to.equal(true);
    expect((await remove(body.endpointId)).body).to.deep.equal({ success: true, endpointId: body.endpointId });
    await applyAction(api.ctx, rideId, { action: 'cancel', by: 'partner' }, { keyId: partner.keyId });
    await until(async () => arrived('/first').length === 3);
    await until(async () => (await storedRide(rideId)).unsettled === 0);
    expect(numbersAt('/second')).to.deep.equal([1, 2]);
    const accountId = (await keys.findOne({ _id: partner.keyId }))?.accountId ?? '';
    expect((await auditOf(accountId, 2)).map(({ action, about }) => [action, about])).to.deep.equal([
      ['endpoint_deleted', body.endpointId],
      ['endpoint_added', body.endpointId],
    ]);
  });

  it('the list has the default URL first, and no secret', async () => {
    const { body } = await add(['ride.status', 'offer.withdrawn']);
    const { endpoints } = (await partner.get('/webhook-endpoints')).body;
    const contract = ['offer.received', 'ride.status'];
    expect(endpoints).to.deep.equal([
      { endpointId: 'default', url: `${receiver.origin}/first`, events: contract, enabled: true },
      {
        ...{ endpointId: body.endpointId, url: `${receiver.origin}/second` },
        ...{ events: ['ride.status', 'offer.withdrawn'], enabled: true },
      },
    ]);
    const other = await api.partner();
    expect((await other.get('/webhook-endpoints')).body).to.deep.equal({ endpoints: [] });
    expect((await remove(body.endpointId, other)).status).to.equal(404);
  });

  it('null counts as absent: for events it is the default, and a URL is required', async () => {
    const url = `${receiver.origin}/second`;
    const { status, body } = await partner.post('/webhook-endpoints', { url, events: null });
    expect([status, body.events]).to.deep.equal([201, ['offer.received', 'ride.status']]);
    expect((await partner.post('/webhook-endpoints', { url: null })).status).to.equal(400);
    const { properties = {} } = documentedSchemas.NewWebhookEndpoint as JsonSchema;
    expect([properties.url?.type, properties.events?.type]).to.deep.equal(['string', ['array', 'null']]);
  });

  it('offer.withdrawn goes only to the endpoint that asks for it, and not into the feed', async () => {
    await add(['offer.withdrawn']);
    const { rideId, offerId } = await rideIn(api.ctx, 'bidding', { by: partner });
    await applyAction(api.ctx, rideId, { action: 'withdrawOffer', offerId }, { keyId: partner.keyId });
    await until(async () => arrived('/second').length === 1);
    const [{ headers, body } = { headers: {}, body: {} }] = arrived('/second');
    expect(body).to.include({ event: 'offer.withdrawn', rideId, eventId: withdrawnEventId(rideId, offerId) });
    expect(body.offer.offerId).to.equal(offerId);
    expect(headers).to.include({ 'x-service-event': 'offer.withdrawn', 'x-service-event-id': body.eventId });
    expect(headers).not.to.have.property('x-service-sequence');
    await until(async () => (await storedRide(rideId)).unsettled === 0);
    expect(numbersAt('/first')).to.deep.equal([1]);
    expect((await partner.get(`/rides/${rideId}/events`)).body.events).to.have.length(1);
    await until(async () => (await storedRide(rideId)).withdrawalsOwed?.length === 0);
  });
});

describe('the event of a withdrawn offer, without workers', () => {
  const api = useTestApi();
  const copiesOf = (rideId: string) => attempts.find({ rideId, event: 'offer.withdrawn' }).toArray();

  async function withdrawn(events: string[], present?: Partial<Ride>) {
    const partner = await api.partner('test');
    await partner.post('/webhook-endpoints', { url: 'https://partner.example/second', events });
    const { rideId, offerId } = await rideIn(api.ctx, 'bidding', { by: partner });
    if (present) await rides.updateOne({ _id: rideId }, { $set: present });
    await applyAction(api.ctx, rideId, { action: 'withdrawOffer', offerId }, { keyId: partner.keyId });
    return { partner, rideId, offerId };
  }

  it('a ride owes nothing if no endpoint wants the event', async () => {
    const { rideId } = await withdrawn(['ride.status']);
    const { withdrawalsOwed, timers } = await storedRide(rideId);
    expect([withdrawalsOwed, timers.some(({ name }) => name === 'withdrawn')]).to.deep.equal([undefined, false]);
  });

  it('what a ride owes survives later changes and the loss of its job, and is stored once', async () => {
    const { partner, rideId, offerId } = await withdrawn(['offer.withdrawn']);
    const { offerId: second } = await offerOn(api.ctx, rideId);
    await partner.post(`/rides/${rideId}/accept`, { offerId: second });
    await api.ctx.redis.flushall();
    await sweep(api.ctx, { everything: true });
    expect(await jobFor(api.ctx, 'bidding', { rideId, timer: 'withdrawn' })).not.to.equal(undefined);
    await Promise.all([storeOwedWithdrawals(api.ctx, rideId), storeOwedWithdrawals(api.ctx, rideId)]);
    await storeOwedWithdrawals(api.ctx, rideId);
    expect((await copiesOf(rideId)).map((copy) => [copy.offerId, copy.outcome])).to.deep.equal([[offerId, 'waiting']]);
    const { withdrawalsOwed, timers } = await storedRide(rideId);
    expect([withdrawalsOwed, timers.some(({ name }) => name === 'withdrawn')]).to.deep.equal([[], false]);
  });

  it("the event is due by MongoDB's clock, even after that clock was set back by an hour", async () => {
    const { rideId } = await withdrawn(['offer.withdrawn'], { lastEventAt: new Date(Date.now() + 3_600_000) });
    expect(await storeOwedWithdrawals(api.ctx, rideId)).to.include({ result: 'done' });
  });

  it('an endpoint is confirmed only when no more events are delivered without it', async () => {
    const partner = await api.partner('test');
    const startedAt = performance.now();
    await partner.post('/webhook-endpoints', { url: 'https://partner.example/second' });
    expect(performance.now() - startedAt).to.be.at.least(settingsMaxAgeMs);
  });
});

describe('POST /rides/:rideId/events/:sequence/resend', () => {
  const receiver = useReceiver();
  const api = useTestService(() => ({ WEBHOOK_LOCAL_TARGETS: receiver.origin }));
  let partner: Client & NewKey;
  beforeEach(async () => {
    partner = await api.partner('live', receiver.url);
  });

  const resend = (rideId: string, sequence: number | string, by: Client = partner) =>
    by.post(`/rides/${rideId}/events/${sequence}/resend`);
  const code = ({ status, headers }: { status: number; headers: Headers }) => [status, headers.get('x-service-error')];
  /** A ride of the partner whose two events have arrived. */
  async function sentRide(): Promise<string> {
    const before = receiver.receipts.length;
    const { rideId } = await rideIn(api.ctx, 'driver_arriving', { by: partner });
    await receiver.received(before + 2);
    await until(async () => (await storedRide(rideId)).unsettled === 0);
    return rideId;
  }

  it('a resend sends the event again with its body, id and number, a mark and a new signature', async () => {
    const rideId = await sentRide();
    const count = receiver.receipts.length;
    const { status, body } = await resend(rideId, 2);
    expect(status).to.equal(200);
    const { attemptId } = body;
    expect(body).to.deep.equal({ success: true, rideId, eventId: eventId(rideId, 2), sequence: 2, attemptId });
    const receipt = (await receiver.received(count + 1))[count];
    expect(isSignedWith(partner.signingSecret, receipt)).to.equal(true);
    expect(receipt?.raw).to.equal((await storedRide(rideId)).events[1]?.body);
    expect(receipt?.headers).to.include({
      'x-service-event-id': eventId(rideId, 2),
      'x-service-sequence': '2',
      'x-service-redelivery': 'true',
    });
    const resends = async () => (await partner.get(`/rides/${rideId}/events`)).body.resends;
    await until(async () => (await resends())[0]?.outcome !== 'waiting');
    const [{ requestedAt, ...resent }, ...others] = await resends();
    expect(resent).to.deep.equal({ attemptId, seq: 2, outcome: 'delivered', httpStatus: 200 });
    expect(requestedAt).to.be.a('number');
    expect(others).to.deep.equal([]);
  });

  it('the resend is recorded with the id of its request', async () => {
    const rideId = await sentRide();
    const { headers } = await resend(rideId, 1);
    const [record] = await attempts.find({ rideId, kind: 'redelivery' }).toArray();
    expect(record).to.include({ keyId: partner.keyId, seq: 1, requestId: headers.get('x-request-id') });
  });

  it("another key's ride, also of the same account, is a 404 that equals the 404 of an unknown ride", async () => {
    const rideId = await sentRide();
    const { accountId } = await storedRide(rideId);
    const { key } = await createKey(api.ctx.config, { accountId, name: 'another', mode: 'live' });
    const stranger = clientOf(api.url, key);
    const foreign = await resend(rideId, 1, stranger);
    const unknown = await resend('ride_000000000000000000000000', 1, stranger);
    expect(code(foreign)).to.deep.equal([404, 'ride_not_found']);
    expect(foreign.text).to.equal(unknown.text);
    expect(await attempts.countDocuments({ rideId, kind: 'redelivery' })).to.equal(0);
  });

  it('a ride with two events answers 404 for any other event', async () => {
    const { rideId } = await rideIn(api.ctx, 'driver_arriving', { by: partner });
    for (const sequence of ['3', '0', '-1', '1.5', '01', 'x', '1e0', '99999999999999999999']) {
      expect(code(await resend(rideId, sequence)), sequence).to.deep.equal([404, 'event_not_found']);
    }
  });
});
