import { expect } from 'chai';
import { revokeKey } from '../../../shared/keys/manage-keys.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { testScenarios } from '../../../shared/rides/ride-types.ts';
import { clientOf } from '../../support/client.ts';
import { newFormId, signedIn } from '../../support/dashboard.ts';
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
    expect(html).to.match(/<details class="more-fields" open/);
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
