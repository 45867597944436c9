import { expect } from 'chai';
import { firstValues } from '../../../api/dashboard/console/ride-form.ts';
import { endAllSessions } from '../../../shared/accounts/session.ts';
import { newKeyId } from '../../../shared/base/ids.ts';
import type { Mode } from '../../../shared/base/mode.ts';
import { createKey, type NewKey, revokeKey } from '../../../shared/keys/manage-keys.ts';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { testScenarios } from '../../../shared/rides/ride-types.ts';
import { clientOf } from '../../support/client.ts';
import { newFormId, signedIn, type Visitor } from '../../support/dashboard.ts';
import { type EventStream, openEventStream } from '../../support/event-stream.ts';
import { formIn } from '../../support/pages.ts';
import { newRide, offerOn } from '../../support/rides.ts';
import { startTestApi, useTestApi } from '../../support/service.ts';
import { storedRide } from '../../support/stored-rides.ts';

const base = '/dashboard/console';

describe('the test console', () => {
  const api = useTestApi();
  let visitor: Visitor;
  let key: NewKey;
  beforeEach(async () => {
    visitor = await signedIn(api);
    key = await keyOf(visitor);
  });

  const keyOf = ({ account }: Visitor, mode: Mode = 'test', name = 'Front desk') =>
    createKey(api.ctx.config, { accountId: account._id, name, mode });

  const fields = (changes: Record<string, string> = {}) => ({
    ...firstValues,
    key: key.keyId,
    scenario: 'no_offers',
    ...changes,
  });

  /** Starts a ride on the page: its id. */
  async function started(changes: Record<string, string> = {}): Promise<string> {
    const { status, headers } = await visitor.post(base, fields(changes));
    expect(status).to.equal(303);
    return /^\/dashboard\/console\/(ride_\w+)$/.exec(headers.get('location') ?? '')?.[1] ?? '';
  }

  const newTestRide = (owner: Visitor, keyId: string, mode: Mode = 'test') =>
    newRide(api.ctx, { keyId, mode, accountId: owner.account._id, scenario: 'no_offers' });

  describe('starting a ride', () => {
    it('makes the ride of the form, with its scenario, and shows it', async () => {
      const rideId = await started({ fare: '31.40', pickupAddress: ' 1 Main Street ', scenario: 'no_auto_accept' });
      const ride = await storedRide(rideId);
      expect(ride).to.deep.include({ keyId: key.keyId, mode: 'test', fare: 31.4, scenario: 'no_auto_accept' });
      expect(ride.accountId).to.equal(visitor.account._id);
      expect(ride.pickup).to.deep.equal({ lat: 40.758, lng: -73.9855, address: '1 Main Street' });
      const page = await visitor.get(`${base}/${rideId}`);
      expect(page.status).to.equal(200);
      expect(page.html).to.include('31.40 USD').and.include('Front desk').and.include('Test data');
    });

    it('offers only the active test keys of the account, the newest first chosen, and makes one where there is none', async () => {
      await keyOf(visitor, 'live', 'Live key');
      const revoked = await keyOf(visitor, 'test', 'Old key');
      await revokeKey(revoked.keyId, 'anyone');
      const newest = await keyOf(visitor, 'test', 'New key');
      const { html } = await visitor.get(base);
      const options = [...html.matchAll(/<option value="(key_\w+)"( selected)?/g)].map(([, id, chosen]) => [
        id,
        !!chosen,
      ]);
      expect(options).to.deep.equal([
        [key.keyId, false],
        [newest.keyId, true],
      ]);
      const { html: empty } = await (await signedIn(api)).get(base);
      expect(empty).to.include('Make a test key').and.not.include('<select');
    });

    it('has the key and the scenario that the address names', async () => {
      await keyOf(visitor, 'test', 'Newer');
      const { html } = await visitor.get(`${base}?key=${key.keyId}&scenario=stalls`);
      expect(html).to.match(new RegExp(`<option value="${key.keyId}" selected`));
      expect(html).to.match(/value="stalls" checked/);
    });

    it('makes one ride of a form that is sent twice at once, and of one that is sent again', async () => {
      const form = fields({ formId: newFormId() });
      const answers = await Promise.all([visitor.post(base, form), visitor.post(base, form)]);
      answers.push(await visitor.post(base, form));
      expect(answers.map(({ status }) => status)).to.deep.equal([303, 303, 303]);
      expect(new Set(answers.map(({ headers }) => headers.get('location'))).size).to.equal(1);
      expect(await rides.countDocuments({ keyId: key.keyId })).to.equal(1);
    });

    it('comes back when a form is sent again with other values, with what was typed', async () => {
      const formId = newFormId();
      const form = { ...fields(), formId };
      await visitor.post(base, form);
      const { status, html } = await visitor.post(base, { ...form, fare: '77' });
      expect(status).to.equal(409);
      expect(html).to.include('value="77"').and.include('started from this form before');
      expect(html).not.to.include(formId);
    });

    it('refuses a form without its one-time id', async () => {
      expect((await visitor.post(base, fields({ formId: '' }))).status).to.equal(400);
    });

    it('comes back with every fault at its field, and with what was typed', async () => {
      const typed = { pickupLat: '91', destinationLng: 'east', fare: '', pickupAddress: 'A "quoted" <b>place</b>' };
      const { status, html } = await visitor.post(base, fields(typed));
      expect(status).to.equal(422);
      expect(html).to.include('<title>Error: Test console');
      for (const [field, fault] of [
        ['pickupLat', 'The latitude of the pickup must be less than or equal to 90'],
        ['destinationLng', 'The longitude of the destination must be a number'],
        ['fare', 'The fare is required'],
      ]) {
        expect(html).to.include(`<a href="#${field}">${fault}</a>`).and.include(`id="${field}-fault">${fault}`);
      }
      expect(html).to.include('value="91"').and.include('value="east"').and.not.include('<b>place');
      expect(html)
        .to.include('A &quot;quoted&quot; &lt;b>place')
        .and.match(/value="no_offers" checked/);
      expect(await rides.countDocuments({ keyId: key.keyId })).to.equal(0);
    });

    it('refuses an unknown scenario, and a live or revoked key of its own in words', async () => {
      const live = await keyOf(visitor, 'live');
      const revoked = await keyOf(visitor);
      await revokeKey(revoked.keyId, 'anyone');
      for (const [changes, words] of [
        [{ scenario: 'nope' }, 'Choose a scenario'],
        [{ key: live.keyId }, 'Choose a test key'],
        [{ key: revoked.keyId }, 'This key is revoked'],
      ] as const) {
        const { status, html } = await visitor.post(base, fields(changes));
        expect([status, html.includes(words)]).to.deep.equal([422, true], words);
      }
      expect(await rides.countDocuments({ accountId: visitor.account._id })).to.equal(0);
    });

    it('counts with the API against the limit of the key, and says so on a page that keeps what was typed', async () => {
      const { createRide } = clientOf(api.url, key.key);
      for (let made = 0; made < 29; made++) expect((await createRide()).status).to.equal(201);
      await started();
      const { status, headers, html } = await visitor.post(base, fields({ fare: '88' }));
      expect(status).to.equal(429);
      expect(Number(headers.get('retry-after'))).to.be.within(1, 60);
      expect(html)
        .to.include('Rate limit exceeded: at most 30 rides in 60 seconds for each key')
        .and.include('value="88"');
      expect((await createRide()).status).to.equal(429);
    });

    it('shows the request as curl without the key', async () => {
      const rideId = await started({ scenario: 'stalls' });
      const { html } = await visitor.get(`${base}/${rideId}`);
      expect(html).to.include('$SVC_TEST_KEY').and.include('X-Service-Test-Scenario: stalls');
      expect(html).not.to.include(key.key);
    });
  });

  describe('a ride of the console', () => {
    it('is accepted by hand, once, whichever of two clicks comes first', async () => {
      const rideId = await started();
      const { offerId } = await offerOn(api.ctx, rideId);
      expect((await visitor.get(`${base}/${rideId}`)).html).to.include(`value="${offerId}"`);
      const accept = () => visitor.post(`${base}/${rideId}/accept`, { offerId });
      const answers = await Promise.all([accept(), accept()]);
      expect(answers.map(({ status }) => status)).to.deep.equal([303, 303]);
      const ride = await storedRide(rideId);
      expect([ride.status, ride.acceptedOfferId, ride.seq]).to.deep.equal(['driver_arriving', offerId, 2]);
    });

    it('is cancelled by hand, once, by two clicks', async () => {
      const rideId = await started();
      const cancel = () => visitor.post(`${base}/${rideId}/cancel`);
      const answers = await Promise.all([cancel(), cancel()]);
      expect(answers.map(({ status }) => status)).to.deep.equal([303, 303]);
      expect(await storedRide(rideId)).to.include({ status: 'cancelled', cancelledBy: 'partner', seq: 1 });
    });

    it('is driven by hand with the forms of its page, from an offer to the end', async () => {
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
        [24.5, false],
        [19.9, true],
      ]);
      expect(ride.events[0]).to.include({ by: 'dashboard' });
      await visitor.post(`${base}/${rideId}/accept`, { offerId: ride.offers[0]?.offerId ?? '' });
      for (const name of ['arrive', 'start']) await send(name);
      const html = await page();
      expect(html)
        .to.include('Complete the trip')
        .and.include('Cancel as the driver')
        .and.include('Let the time run out');
      expect(html).not.to.include('Arrive at the pickup').and.not.include('Make an offer');
      await send('complete');
      expect(await page()).not.to.include('Step by hand');
      expect((await storedRide(rideId)).status).to.equal('completed');
    });

    it('takes one step of a form that is sent twice, and shows why another is refused', async () => {
      const rideId = await started();
      const action = `${base}/${rideId}/steps/offer`;
      const form = formIn((await visitor.get(`${base}/${rideId}`)).html, action) ?? {};
      const answers = await Promise.all([visitor.post(action, form), visitor.post(action, form)]);
      expect(answers.map(({ status }) => status)).to.deep.equal([303, 303]);
      expect((await storedRide(rideId)).offers).to.have.length(1);
      expect((await visitor.post(action, { ...form, formId: '' })).status).to.equal(400);
      const faulty = await visitor.post(action, { price: 'much' });
      expect(faulty.status).to.equal(422);
      expect(faulty.html).to.include('The price must be a number').and.include('<title>Error: Test ride');
      const early = await visitor.post(`${base}/${rideId}/steps/start`);
      expect(early.status).to.equal(409);
      expect(early.html).to.include('not in a status that allows this step');
      expect((await visitor.post(`${base}/${rideId}/steps/fly`)).status).to.equal(404);
    });

    it('says that it has ended before it could be cancelled', async () => {
      const rideId = await started();
      await applyAction(api.ctx, rideId, { action: 'cancel', by: 'timeout' }, 'anyone');
      const { status, html } = await visitor.post(`${base}/${rideId}/cancel`);
      expect(status).to.equal(409);
      expect(html).to.include('already completed or cancelled').and.include('<title>Error: Test ride');
      expect(html).not.to.include('Cancel ride');
    });

    it('says why an offer cannot be accepted', async () => {
      const rideId = await started();
      const { offerId } = await offerOn(api.ctx, rideId);
      expect((await visitor.post(`${base}/${rideId}/accept`, { offerId: 'offer_none' })).status).to.equal(404);
      await applyAction(api.ctx, rideId, { action: 'withdrawOffer', offerId }, 'anyone');
      const { status, html } = await visitor.post(`${base}/${rideId}/accept`, { offerId });
      expect(status).to.equal(409);
      expect(html).to.include('The offer was withdrawn').and.include('withdrawn</p>');
    });

    it('is the same 404 for another account as an unknown ride and a live one, on page, state, stream and forms', async () => {
      const other = await signedIn(api);
      const foreign = await newTestRide(other, (await keyOf(other)).keyId);
      const live = await newTestRide(visitor, (await keyOf(visitor, 'live')).keyId, 'live');
      const pages = new Set<string>();
      for (const id of [foreign, live, 'ride_unknown', newKeyId()]) {
        for (const path of ['', '/state', '/events']) {
          const { status, html } = await visitor.get(`${base}/${id}${path}`);
          expect(status, path).to.equal(404);
          pages.add(html.replace(/[0-9a-f-]{36}/, ''));
        }
        for (const path of ['/accept', '/cancel', '/steps/offer', '/steps/arrive']) {
          const { status, html } = await visitor.post(`${base}/${id}${path}`, { offerId: 'offer_1' });
          expect(status, path).to.equal(404);
          pages.add(html.replace(/[0-9a-f-]{36}/, ''));
        }
      }
      expect(pages.size).to.equal(1);
      expect(await storedRide(foreign)).to.include({ status: 'bidding' });
    });

    it('is not started with a key of another account: the same 404 as for an unknown key', async () => {
      const other = await signedIn(api);
      const foreign = await keyOf(other);
      const answers = [
        await visitor.post(base, fields({ key: foreign.keyId })),
        await visitor.post(base, fields({ key: newKeyId() })),
      ];
      expect(answers.map(({ status }) => status)).to.deep.equal([404, 404]);
      expect(await rides.countDocuments({ keyId: foreign.keyId })).to.equal(0);
    });

    it('escapes everything that a partner typed, on the page and in the stream', async () => {
      const markup = `<img src=x onerror=alert(1)>'"&`;
      key = await keyOf(visitor, 'test', markup);
      const rideId = await started({ pickupAddress: markup, destinationAddress: markup });
      const { name, vehicle, plate } = { name: markup, vehicle: markup, plate: markup };
      const driver = { driverId: 'd', phone: '+12025550100', rating: 5, name, vehicle, plate };
      const { offerId } = await offerOn(api.ctx, rideId, { driver });
      const { html: bidding } = await visitor.get(`${base}/${rideId}`);
      await visitor.post(`${base}/${rideId}/accept`, { offerId });
      const { html } = await visitor.get(`${base}/${rideId}`);
      const { html: state } = await visitor.get(`${base}/${rideId}/state`);
      for (const text of [
        bidding,
        html,
        (JSON.parse(state) as { html: string }).html,
        (await visitor.get(base)).html,
      ]) {
        expect(text).to.include('&lt;img').and.not.include('<img');
      }
    });
  });

  describe('the stream of a ride', () => {
    const opened: EventStream[] = [];
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((stream) => stream.close()));
    });
    async function follow(rideId: string, cookie = visitor.cookie): Promise<EventStream> {
      const stream = await openEventStream(`${api.url}${base}/${rideId}/events`, { cookie });
      opened.push(stream);
      return stream;
    }
    async function nextWith(stream: EventStream, text: string) {
      let state = await stream.next();
      while (state && !state.html.includes(text)) state = await stream.next();
      return state;
    }

    it('begins with the whole state and is told of each change', async () => {
      const rideId = await started();
      const stream = await follow(rideId);
      expect(stream.headers.get('content-type')).to.match(/^text\/event-stream/);
      expect(stream.headers.get('cache-control')).to.equal('no-store, no-transform');
      expect((await stream.next()).latest).to.equal('Ride requested: 24.50 USD for 5.3 km');
      const { offerId } = await offerOn(api.ctx, rideId, { price: 21.5 });
      const offered = await nextWith(stream, offerId);
      expect(offered.html).to.include('21.50 USD').and.include('Accept');
      expect(offered.latest).to.match(/^Offer received/);
      await visitor.post(`${base}/${rideId}/accept`, { offerId });
      expect((await nextWith(stream, 'accepted</strong>')).latest).to.match(/^Offer accepted/);
    });

    it('goes on after the end of the ride until its events are settled, and is a 204 from then on', async () => {
      const rideId = await started();
      const stream = await follow(rideId);
      await visitor.post(`${base}/${rideId}/cancel`);
      expect(await nextWith(stream, 'Ride cancelled')).to.include({ isOver: false });
      await rides.updateOne(
        { _id: rideId },
        {
          $set: {
            'events.0.delivery': { outcome: 'delivered', httpStatus: 204, durationMs: 7.4, at: new Date() },
            settledSeq: 1,
            unsettled: 0,
          },
        },
      );
      const last = await nextWith(stream, 'HTTP 204 after 7 ms');
      expect(last.isOver).to.equal(true);
      expect(await stream.next()).to.equal(null);
      expect((await follow(rideId)).status).to.equal(204);
    });

    it('is a 401 without a session, and so is the state', async () => {
      const rideId = await started();
      for (const cookie of ['', 'session=no-such-session']) {
        expect((await follow(rideId, cookie)).status).to.equal(401);
        expect((await fetch(`${api.url}${base}/${rideId}/state`, { headers: { cookie } })).status).to.equal(401);
      }
    });

    it('ends when its session ends, and leaves those of other sessions alone', async () => {
      const rideId = await started();
      const second = await signedIn(api, visitor.account.email);
      const stream = await follow(rideId);
      await stream.next();
      await endAllSessions(visitor.account._id);
      visitor = await signedIn(api, visitor.account.email);
      const other = await follow(rideId);
      expect(await nextWith(stream, 'never')).to.equal(null);
      expect((await follow(rideId, second.cookie)).status).to.equal(401);
      await visitor.post(`${base}/${rideId}/cancel`);
      expect(await nextWith(other, 'Ride cancelled')).to.include({ isOver: false });
    });
  });

  it('knows every scenario', async () => {
    const { html } = await visitor.get(base);
    for (const scenario of testScenarios) expect(html).to.include(`value="${scenario}"`);
  });
});

describe('the streams of the test console', () => {
  /** An API of its own, a test ride on it, and how its account opens the ride's stream. */
  async function apiWithRide(settings?: Record<string, string>) {
    const api = await startTestApi(settings);
    const { account, cookie } = await signedIn(api);
    const key = { accountId: account._id, name: 'Front desk', mode: 'test' } as const;
    const { keyId } = await createKey(api.ctx.config, key);
    const rideId = await newRide(api.ctx, { keyId, accountId: account._id, mode: 'test', scenario: 'no_offers' });
    return { api, open: () => openEventStream(`${api.url}${base}/${rideId}/events`, { cookie }) };
  }

  it('do not keep a stop waiting, and are ended by it', async () => {
    const { api, open } = await apiWithRide();
    const stream = await open();
    await stream.next();
    await api.close();
    expect(await stream.next()).to.equal(null);
  });

  it('are a 429 beyond those that one account may have', async () => {
    const { api, open } = await apiWithRide({ MAX_STREAMS_PER_CLIENT: '1' });
    const [first, second] = [await open(), await open()];
    expect([first.status, second.status]).to.deep.equal([200, 429]);
    await api.close();
  });
});

describe('the page of the signature check', () => {
  const api = useTestApi();

  it('has nothing that a browser could send: no field has a name', async () => {
    const { html, status } = await (await signedIn(api)).get('/dashboard/signature');
    const form = /<form class="form".*?<\/form>/s.exec(html)?.[0] ?? '';
    expect(status).to.equal(200);
    expect(form).to.include('id="secret"').and.include('hidden').and.include('method="dialog"');
    expect(form).not.to.match(/\s(name|action)=/);
  });
});
