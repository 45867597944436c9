import { expect } from 'chai';
import { auditOf } from '../../../shared/accounts/audit.ts';
import { revokeKey } from '../../../shared/keys/manage-keys.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { testScenarios } from '../../../shared/rides/ride-types.ts';
import { clientOf } from '../../support/client.ts';
import { newFormId, type PageAnswer, signedIn } from '../../support/dashboard.ts';
import { formIn, withoutRequestId } from '../../support/pages.ts';
import { offerOn } from '../../support/rides.ts';
import { storedRide } from '../../support/stored-rides.ts';
import { base, useTestConsole } from '../../support/test-console.ts';

describe('starting a ride in the test console', () => {
  const { api, visitor, key, fields, started } = useTestConsole();

  it('the form creates a ride with its scenario and all its fields, and the page of the ride shows them', async () => {
    const rideId = await started({
      ...{ fare: '31.40', pickupAddress: ' 1 Main Street ', scenario: 'no_auto_accept' },
      ...{ passengerName: 'Ada Byron', passengerCount: '3', reference: 'RES-20332', notes: 'Side door' },
      ...{ carType: 'comfort', maxPrice: '30', metadata: 'room=1204' },
    });
    expect(await storedRide(rideId)).to.deep.include({
      ...{ keyId: key.keyId, accountId: visitor.account._id, mode: 'test', fare: 31.4, scenario: 'no_auto_accept' },
      pickup: { lat: 57.6997, lng: 11.9523, address: '1 Main Street' },
      ...{ passenger: { name: 'Ada Byron' }, passengerCount: 3, reference: 'RES-20332', notes: 'Side door' },
      ...{ carType: 'comfort', autoAccept: { maxPrice: 30 }, metadata: { room: '1204' } },
    });
    const { status, html } = await visitor.get(`${base}/${rideId}`);
    expect(status).to.equal(200);
    const shown = ['$31.40', 'Front desk', 'Test data', 'Ada Byron', 'RES-20332', 'Side door', 'comfort', '1204'];
    for (const text of [...shown, 'up to $30.00']) expect(html).to.include(text);
  });

  it('the form lists only active test keys, the newest preselected', async () => {
    await visitor.newKey('live', 'Live key');
    const revoked = await visitor.newKey('test', 'Old key');
    await revokeKey(revoked.keyId, 'anyone');
    const newest = await visitor.newKey('test', 'New key');
    const { html } = await visitor.get(base);
    const options = [...html.matchAll(/<option value="(key_\w+)"( selected)?/g)].map(([, id, chosen]) => [
      id,
      !!chosen,
    ]);
    expect(options).to.deep.equal([
      [key.keyId, false],
      [newest.keyId, true],
    ]);
  });

  it('the form preselects the key and the scenario of the URL', async () => {
    await visitor.newKey('test', 'Newer');
    const { html } = await visitor.get(`${base}?key=${key.keyId}&scenario=stalls`);
    expect(html).to.match(new RegExp(`<option value="${key.keyId}" selected`));
    expect(html).to.match(/value="stalls" checked/);
  });

  it('a used form id with other values is refused, and the typed values are kept', async () => {
    const formId = newFormId();
    const form = { ...fields(), formId };
    await visitor.post(base, form);
    const { status, html } = await visitor.post(base, { ...form, fare: '77' });
    expect(status).to.equal(409);
    expect(html).to.include('value="77"').and.include('started from this form before');
    expect(html).not.to.include(formId);
  });

  it('every fault of the form is shown at its field, and the typed values are kept', async () => {
    const typed = { pickupLat: '91', destinationLng: 'east', fare: '', pickupAddress: 'A "quoted" <b>place</b>' };
    const more = { metadata: '1=2', passengerCount: '9' };
    const { status, html } = await visitor.post(base, fields({ ...typed, ...more }));
    expect(status).to.equal(422);
    expect(html).to.include('<title>Error: Test console');
    for (const [field, fault] of [
      ['pickupLat', 'The latitude of the pickup must be less than or equal to 90'],
      ['destinationLng', 'The longitude of the destination must be a number'],
      ['fare', 'The fare is required'],
      ['passengerCount', 'The number of passengers must be less than or equal to 7'],
      ['metadata', 'Metadata has at most 20 lines'],
    ]) {
      expect(html).to.include(`<a href="#${field}">${fault}`).and.include(`id="${field}-fault">${fault}`);
    }
    expect(html).to.match(/<details open/);
    expect(html).to.include('value="91"').and.include('value="east"').and.not.include('<b>place');
    expect(html)
      .to.include('A &quot;quoted&quot; &lt;b>place')
      .and.match(/value="no_offers" checked/);
    expect(await rides.countDocuments({ keyId: key.keyId })).to.equal(0);
  });

  it('an unknown scenario, a live key and a revoked key each get an error that names the fault', async () => {
    const live = await visitor.newKey('live');
    const revoked = await visitor.newKey();
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

  it('the console and the API share the creation limit of a key; a refusal keeps the typed values', async () => {
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

  it('lists the newest test rides of the account, with links to their pages', async () => {
    await visitor.rideIn('bidding');
    const rideIds: string[] = [];
    for (let made = 0; made < 6; made++) rideIds.unshift(await started({ reference: `RES-${made}` }));
    const { html } = await visitor.get(base);
    const listed = [...html.matchAll(/href="\/dashboard\/console\/(ride_\w+)">([^<]*)</g)];
    expect(listed.map(([, id]) => id)).to.deep.equal(rideIds.slice(0, 5));
    expect(listed[0]?.[2]).to.equal('RES-5');
    expect((await (await signedIn(api)).get(base)).html).not.to.include('Recent test rides');
  });

  it('the page shows the request as a curl command without the key', async () => {
    const rideId = await started({ scenario: 'stalls' });
    const { html } = await visitor.get(`${base}/${rideId}`);
    expect(html).to.include('$SVC_TEST_KEY').and.include('X-Service-Test-Scenario: stalls');
    expect(html).not.to.include(key.key);
  });

  it('the form offers every test scenario that does not refuse the creation', async () => {
    const { html } = await visitor.get(base);
    for (const scenario of testScenarios) {
      const refuses = ['rate_limited', 'unavailable'].includes(scenario);
      expect(html.includes(`value="${scenario}"`), scenario).to.equal(!refuses);
    }
  });
});

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
