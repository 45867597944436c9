import { expect } from 'chai';
import { createApp } from '../../../api/app.ts';
import { serve } from '../../../api/http/serve.ts';
import { partnerOperations } from '../../../api/partner/routes.ts';
import type { Operation } from '../../../shared/base/operation.ts';
import type { Need } from '../../../shared/base/terms.ts';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { sentEventSchemas } from '../../../shared/rides/event-schemas.ts';
import { bringSuccessor } from '../../../shared/rides/rebid.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { type RideStatus, rideStatuses } from '../../../shared/rides/ride-types.ts';
import { attempts } from '../../../shared/webhooks/attempts.ts';
import { storeOwedWithdrawals } from '../../../shared/webhooks/copies-of-event.ts';
import { type Client, validRide } from '../../support/client.ts';
import { operationCaller, type Provocations, testDocumentedErrors } from '../../support/common-errors.ts';
import { fieldsIn, fieldsOf, openApi, schemaProblem } from '../../support/documented.ts';
import { ageEvents } from '../../support/feed.ts';
import { labelledExamples, newDriver, offerOn, type RideWish, rideIn } from '../../support/rides.ts';
import { useTestApi } from '../../support/service.ts';
import { endBidding, storedRide } from '../../support/stored-rides.ts';
import { useStarted } from '../../support/use-started.ts';

// `call` and `rawRequest` compare every answer with the document in all tests of the API.
describe('documented answers to partners', () => {
  const api = useTestApi();
  const caller = useStarted(() => operationCaller(api, '/v1', () => partner.key));
  let partner: Client & { key: string; keyId: string };

  beforeEach(async () => {
    partner = await api.partner();
  });

  const inDays = (days: number) => Math.round(api.ctx.now()) + days * 86_400_000;

  interface Case {
    wish?: RideWish;
    prepare?(ride: TestRide): Promise<unknown>;
    /** The body of the call, to which the id of the last offer is added. Default: the operation's example. */
    body?: object;
    sequence?: number;
  }
  type TestRide = Awaited<ReturnType<typeof rideIn>>;

  /** Calls an operation for a ride that was brought to a status and then prepared. */
  const onRide =
    (status: RideStatus, { wish, prepare, body, sequence }: Case = {}) =>
    async (operation: Operation) => {
      const ride = await rideIn(api.ctx, status, { by: partner, ...wish });
      await prepare?.(ride);
      const offerId = ride.offers.at(-1)?.offerId;
      return caller.run(operation, { rideId: ride.rideId, sequence, ...(body && { body: { offerId, ...body } }) });
    };
  const set = ({ rideId }: TestRide, fields: object) => rides.updateOne({ _id: rideId }, { $set: fields });
  const higher = { fare: 99, passengerCount: 2 };
  const unsent = { outcome: 'no_url', durationMs: 0, at: new Date() };

  /** How to cause each error that is documented for partners. */
  const provocations: Provocations = {
    ride_not_found: (operation) => caller.run(operation),
    endpoint_not_found: (operation) => caller.run(operation),
    offer_not_found: onRide('bidding'),
    event_not_found: onRide('bidding', { sequence: 2 }),
    not_sent_yet: onRide('bidding'),
    no_webhook_url: onRide('bidding', { prepare: (ride) => set(ride, { 'events.0.delivery': unsent }) }),
    body_erased: onRide('bidding', {
      prepare: (ride) => set(ride, { 'events.0.delivery': unsent, 'events.0.body': '' }),
    }),
    ride_not_bidding: onRide('driver_arriving', { wish: { offers: [{}, {}] }, body: higher }),
    bidding_over: onRide('bidding', { prepare: ({ rideId }) => endBidding(rideId), body: higher }),
    fare_not_higher: onRide('bidding', { body: { fare: 0.5 } }),
    offers_full: onRide('bidding', { prepare: (ride) => set(ride, { offers: Array(50).fill(ride.offer) }) }),
    illegal_step: onRide('bidding'),
    no_driver: onRide('bidding'),
    messages_full: onRide('arrived', {
      prepare: (ride) => set(ride, { driverNotes: Array(10).fill({ number: 1, text: 'x', at: new Date() }) }),
    }),
    wrong_pin: onRide('arrived', { wish: { pin: true }, body: {} }),
    pin_locked: onRide('arrived', {
      wish: { pin: true },
      prepare: (ride) => set(ride, { wrongPinsAt: Array(5).fill(new Date()) }),
    }),
    offer_withdrawn: onRide('bidding', {
      prepare: ({ rideId, offerId }) => applyAction(api.ctx, rideId, { action: 'withdrawOffer', offerId }, 'anyone'),
      body: {},
    }),
    ride_ended: onRide('completed'),
    endpoints_full: async (operation) => {
      const add = () => caller.run(operation, { body: { url: 'https://partner.example/events' } });
      for (let added = 0; added < 4; added += 1) await add();
      return add();
    },
    bidding_not_open: async (operation) => {
      const { rideId } = (await partner.createRide({ pickupAt: inDays(2) })).body;
      return caller.run(operation, { rideId });
    },
    live_ride: async (operation) => {
      partner = await api.partner('live');
      return caller.run(operation);
    },
    idempotency_conflict: async () => {
      await partner.createRide({}, { 'Idempotency-Key': 'twice' });
      const { status, body } = await partner.createRide({ fare: 99 }, { 'Idempotency-Key': 'twice' });
      return { status, error: body.error };
    },
    ride_erased: async () => {
      const { body: ride } = await partner.createRide({}, { 'Idempotency-Key': 'erased' });
      await rides.updateOne({ _id: ride.rideId }, { $set: { erasedAt: new Date() } });
      const { status, body } = await partner.createRide({}, { 'Idempotency-Key': 'erased' });
      return { status, error: body.error };
    },
    driver_busy: async (operation) => {
      const driver = newDriver();
      await rideIn(api.ctx, 'driver_arriving', { offers: [{ driver }] });
      const desk = await api.partner('live');
      const { rideId, offerId } = await rideIn(api.ctx, 'bidding', { by: desk, offers: [{ driver }] });
      partner = desk;
      return caller.run(operation, { rideId, body: { offerId } });
    },
    too_many_waiting: async (operation) => {
      const { rideId } = (await partner.createRide()).body;
      const { config } = api.ctx;
      const crowded = { ...api.ctx, config: { ...config, streams: { ...config.streams, all: 1 } } };
      const server = await serve(crowded, createApp(crowded));
      const url = `http://127.0.0.1:${server.port}`;
      const wait = () => caller.run(operation, { rideId, url, query: '?waitSeconds=30' });
      const [one, other] = [wait(), wait()];
      const refused = await Promise.race([one, other]);
      // Closing the server ends the wait of the request that was not refused.
      await server.close();
      await Promise.all([one, other]);
      return refused;
    },
    rate_limited: async (operation) => {
      await Promise.all(Array.from({ length: 30 }, () => partner.createRide()));
      return caller.run(operation);
    },
  };

  testDocumentedErrors(partnerOperations, caller, provocations);

  it('every documented field of answers to partners and of events occurs', async () => {
    const seen = new Map<string, Set<string>>();
    const saw = (name: string, value: unknown) =>
      seen.set(name, new Set([...(seen.get(name) ?? []), ...fieldsIn(value)]));

    const sawEvent = (event: { event: keyof typeof sentEventSchemas }) => {
      const { title } = sentEventSchemas[event.event];
      expect(schemaProblem(title as string, event)).to.equal(undefined);
      saw(title as string, event);
    };

    const endpoint = { url: 'https://partner.example/second', events: ['offer.withdrawn'] };
    const { body: added } = await partner.post('/webhook-endpoints', endpoint);
    saw('WebhookEndpointAdded', added);
    const { body: listedEndpoints } = await partner.get('/webhook-endpoints');
    saw('WebhookEndpointList', listedEndpoints);
    saw('WebhookEndpoint', listedEndpoints.endpoints[0]);
    const isDeleted = () => partner.send('DELETE', `/webhook-endpoints/${added.endpointId}`);
    saw('ServiceInformation', (await partner.get('')).body);
    saw('WebhookSources', (await partner.get('/webhook-sources')).body);
    const addresses = {
      pickup: { ...validRide.pickup, address: 'here' },
      destination: { ...validRide.destination, address: 'there' },
    };
    const own = {
      reference: 'booking-70133',
      metadata: { desk: 'lobby' },
      autoAccept: { maxPrice: 1, maxEtaMinutes: 8, waitSeconds: 5 },
      needs: ['pet'] as Need[],
      onDriverCancel: 'rebid' as const,
      ...labelledExamples,
    };
    saw('RideCreated', (await partner.createRide({ ...own, pickupAt: inDays(2) })).body);
    const live = await api.partner('live');
    const { rideId: liveRideId } = await rideIn(api.ctx, 'bidding', { by: live });
    saw('Ride', (await live.get(`/rides/${liveRideId}`)).body);
    saw('RideList', (await live.get('/rides')).body);
    await replacedRides();
    for (const status of rideStatuses) {
      const { rideId, offerId } = await rideIn(api.ctx, status, { by: partner, ...addresses, ...own, pin: true });
      if (status === 'arrived') {
        saw('DriverTold', (await partner.post(`/rides/${rideId}/messages`, { text: 'Side entrance' })).body);
        await rides.updateOne({ _id: rideId }, { $set: { 'driverNotes.0.seenAt': new Date() } });
        const { body } = await partner.get(`/rides/${rideId}`);
        saw('DriverMessage', body.messages[0]);
      }
      if (status === 'completed') {
        const rating = { stars: 4, comment: 'Friendly driver', at: new Date() };
        await rides.updateOne({ _id: rideId }, { $set: { rating } });
        saw('RideRating', (await partner.get(`/rides/${rideId}`)).body.rating);
      }
      saw('Ride', (await partner.get(`/rides/${rideId}`)).body);
      saw('OfferList', (await partner.get(`/rides/${rideId}/offers`)).body);
      if (status === 'bidding') {
        saw('RideChanged', (await partner.send('PATCH', `/rides/${rideId}`, { passengerCount: 2 })).body);
        saw('FareRaised', (await partner.post(`/rides/${rideId}/fare`, { fare: 26 })).body);
        saw('ManualOfferMade', (await partner.post(`/test/rides/${rideId}/offer`)).body);
        saw('OfferAccepted', (await partner.post(`/rides/${rideId}/accept`, { offerId })).body);
        saw('StepTaken', (await partner.post(`/test/rides/${rideId}/arrive`)).body);
      }
      if (status === 'arrived') saw('RideCancelled', (await partner.post(`/rides/${rideId}/cancel`)).body);
      for (const { body } of (await storedRide(rideId)).events) sawEvent(JSON.parse(body));
      const delivery = { outcome: 'failed', httpStatus: 500, reason: 'status', durationMs: 7, at: new Date(5) };
      const webhookUrl = 'https://partner.example/';
      await rides.updateOne({ _id: rideId }, { $set: { 'events.0.delivery': delivery, webhookUrl } });
      saw('EventResent', (await partner.post(`/rides/${rideId}/events/1/resend`)).body);
      const { httpStatus, reason } = delivery;
      await attempts.updateOne({ rideId, kind: 'redelivery' }, { $set: { outcome: 'failed', httpStatus, reason } });
      const { body: ofRide } = await partner.get(`/rides/${rideId}/events`);
      saw('RideEvents', ofRide);
      for (const resend of ofRide.resends) saw('EventResend', resend);
      await ageEvents(rideId);
    }
    async function withdrawnOffer(rideId: string) {
      const { offerId } = await offerOn(api.ctx, rideId);
      await partner.post(`/test/rides/${rideId}/withdraw`, { offerId });
      await storeOwedWithdrawals(api.ctx, rideId);
      const sent = await attempts.findOne({ rideId, event: 'offer.withdrawn' });
      sawEvent(JSON.parse(sent?.body ?? ''));
    }
    /** A ride for later whose driver cancels, and the ride that replaces it. */
    async function replacedRides() {
      const { rideId } = (await partner.createRide({ ...own, pickupAt: inDays(0) + 20 * 60_000 })).body;
      await withdrawnOffer(rideId);
      const { offerId } = await offerOn(api.ctx, rideId);
      await partner.post(`/rides/${rideId}/accept`, { offerId });
      await partner.post(`/test/rides/${rideId}/cancel`);
      await bringSuccessor(api.ctx, rideId);
      const { replacedBy } = (await partner.get(`/rides/${rideId}`)).body;
      await withdrawnOffer(replacedBy);
      await offerOn(api.ctx, replacedBy);
      await partner.post(`/rides/${replacedBy}/cancel`);
      for (const id of [rideId, replacedBy]) {
        saw('Ride', (await partner.get(`/rides/${id}`)).body);
        saw('RideEvents', (await partner.get(`/rides/${id}/events`)).body);
        for (const { body } of (await storedRide(id)).events) sawEvent(JSON.parse(body));
        await ageEvents(id);
      }
    }

    saw('EventPage', (await partner.get('/events')).body);
    saw('RideList', (await partner.get('/rides')).body);
    const { statements } = (await partner.get('/statements')).body;
    saw('StatementList', { statements });
    saw('StatementMonth', statements[0]);
    const { body: statement } = await partner.get(`/statements/${statements[0].month}`);
    saw('Statement', statement);
    saw('StatementTrip', statement.lines[0]);
    const { body: usage } = await partner.get('/usage');
    saw('Usage', usage);
    saw('UsageDay', usage.days[0]);
    const [from, to] = [validRide.pickup, validRide.destination].map(({ lat, lng }) => `${lat},${lng}`);
    saw('FareHint', (await partner.get(`/fare-hint?pickup=${from}&destination=${to}&carType=family`)).body);

    saw('WebhookEndpointDeleted', (await isDeleted()).body);

    const shown = Object.entries(openApi.partner.components.schemas).filter(
      ([name, schema]) =>
        !schema.enum &&
        // These are parts of other schemas, or request bodies.
        ![
          ...['NewRide', 'ChangedTerms', 'OfferChoice', 'NewFare', 'ManualOffer', 'ManualStart', 'DriverMessageText'],
          'NewWebhookEndpoint',
        ].includes(name) &&
        !['Offer', 'ListedRide', 'FeedEvent', 'ErrorBody'].includes(name),
    );
    expect([...seen.keys()]).to.have.members(shown.map(([name]) => name));
    for (const [name, fields] of seen) {
      expect([...fields], name).to.have.members([...new Set(fieldsOf({ $ref: `#/components/schemas/${name}` }))]);
    }
  });
});
