import { expect } from 'chai';
import { chooseDeskKey } from '../../../shared/accounts/desk.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import { limitKey, revokeKey } from '../../../shared/keys/manage-keys.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { clientOf } from '../../support/client.ts';
import { newFormId, signedIn } from '../../support/dashboard.ts';
import { textOf } from '../../support/pages.ts';
import { storedRide } from '../../support/stored-rides.ts';
import { deskPath, useTestDesk } from '../../support/test-desk.ts';

const minuteMs = 60_000;

describe('booking a ride at the desk', () => {
  const { api, visitor, key, fields, book } = useTestDesk();

  const ridesOfAccount = () => rides.countDocuments({ accountId: visitor.account._id });
  const askedIn = (html: string) => /name="asked" value="([^"]+)"/.exec(html)?.[1] ?? '';
  const post = (changes: Record<string, string> = {}) => visitor.post(deskPath, fields(changes));

  it('the form books a ride with all its fields, with the key of the desk', async () => {
    const rideId = await book({
      ...{ passenger: ' Ada Lovelace ', phone: '+12025550143', notes: 'Side door', reference: 'RES-20332' },
      ...{ passengerLocale: 'es', texting: 'yes', contact: '+12025550144', pin: 'yes' },
      ...{ car: 'comfort', passengers: '3', fare: '$31.40', rebid: 'rebid', need_pet: 'yes', need_wheelchair: 'yes' },
    });
    const ride = await storedRide(rideId);
    expect(ride).to.deep.include({
      ...{ keyId: key.keyId, accountId: visitor.account._id, mode: 'test', fare: 31.4, scenario: 'default' },
      pickup: { lat: 40.7128, lng: -74.006, address: 'Grand Hotel, 1 Main Street' },
      destination: { lat: 40.7506, lng: -73.9935, address: 'Penn Station' },
      passenger: { name: 'Ada Lovelace', phone: '+12025550143', locale: 'es' },
      notify: { passenger: true, contacts: [{ phone: '+12025550144' }] },
      ...{ notes: 'Side door', reference: 'RES-20332', carType: 'comfort', passengerCount: 3 },
      ...{ needs: ['wheelchair', 'pet'], onDriverCancel: 'rebid' },
    });
    expect(ride.origin).to.include({ by: 'dashboard' });
    expect(ride.pinCode).to.match(/^\d{4}$/);
    expect(ride.pickupAt).to.equal(undefined);
  });

  it('after a booking the form is empty, has the focus in From, and names the ride with a link', async () => {
    const rideId = await book({ passenger: 'Ada Lovelace', reference: 'RES-20332' });
    const { html } = await visitor.get(`${deskPath}?booked=${rideId}`);
    expect(html).to.match(new RegExp(`role="status".*Booked: <a href="/dashboard/rides/${rideId}">Ada Lovelace</a>`));
    expect(html).to.match(/<input id="from"[^>]*value="Grand Hotel"[^>]*autofocus/);
    expect(html).not.to.match(/<input[^>]*value="RES-20332"/);
    const other = await signedIn(api);
    expect((await other.get(`${deskPath}?booked=${rideId}`)).html).not.to.include('Booked');
  });

  it('a form that is sent again after the desk got another key books no second ride', async () => {
    const form = { formId: newFormId() };
    const first = await post(form);
    const other = await visitor.newKey();
    await chooseDeskKey(visitor.account._id, newFormId(), other.keyId);
    const again = await post(form);
    const withNewKey = await post({ ...form, key: other.keyId });
    for (const { status, headers } of [again, withNewKey]) {
      expect(status).to.equal(303);
      expect(headers.get('location')).to.equal(first.headers.get('location'));
    }
    expect(await ridesOfAccount()).to.equal(1);
  });

  it("the desk obeys the key's own limit on creations", async () => {
    await limitKey(key.keyId, { perMinute: 1, perHour: 1 });
    expect((await post()).status).to.equal(303);
    expect((await post()).status).to.equal(429);
    expect(await ridesOfAccount()).to.equal(1);
  });

  it('a pickup time counts on the clocks of the browser, and in UTC without scripts', async () => {
    const at = new Date(Math.ceil(Date.now() / minuteMs) * minuteMs + 3 * 3_600_000);
    const utc = at.toISOString().slice(0, 16);
    const ofKolkata = new Date(at.getTime() + 5.5 * 3_600_000).toISOString().slice(0, 16);
    const plain = await storedRide(await book({ ...later, pickupTime: utc, zone: '' }));
    const local = await storedRide(await book({ ...later, pickupTime: ofKolkata, zone: 'Asia/Kolkata' }));
    expect([plain.pickupAt, local.pickupAt]).to.deep.equal([at, at]);
  });

  const later = { when: 'later' };
  for (const [title, changes, field, words] of [
    ['no time', later, 'pickupTime', 'Choose the day and time of the pickup'],
    ['a time in the past', { ...later, pickupTime: '2020-01-01T10:00' }, 'pickupTime', '15 minutes to 30 days ahead'],
    ['no such day', { ...later, pickupTime: '2027-02-31T10:00' }, 'pickupTime', 'Choose the day and time'],
    ['a time although it is for now', { pickupTime: '2027-01-01T10:00' }, 'pickupTime', 'Choose “Later”, or empty'],
    ['no such language', { passengerLocale: '0' }, 'passengerLocale', 'must be a BCP 47 language tag'],
    // A call would leave out the letters.
    ['letters in its phone number', { phone: '+1 202 555 0100 ext. 12' }, 'phone', 'Enter only the phone number'],
  ] as const) {
    it(`refuses a ride with ${title}, at the field`, async () => {
      const { status, html } = await post(changes);
      expect(status).to.equal(422);
      expect(html).to.match(new RegExp(`id="${field}-fault">[^<]*${words}`));
      expect(await ridesOfAccount()).to.equal(0);
    });
  }

  it('faults keep everything typed, are shown at their fields, and the first wrong field has the focus', async () => {
    const typed = { from: 'Grand Hotel', to: 'Nowhere &', fare: 'ten', passenger: 'Ada "L"', notes: 'n'.repeat(201) };
    const { status, html } = await post({ ...typed, phone: '+1 202', reference: 'R1', need_pet: 'yes' });
    expect(status).to.equal(422);
    expect(html).to.include('<title>Error: Desk').and.include('Not booked yet');
    expect(html).to.match(/id="to-fault">Choose the destination from the list, or enter coordinates/);
    expect(html).to.include('id="fare-fault">The fare must be a number');
    expect(html).to.include('id="notes-fault">The note must be at most 200 characters');
    expect(html).to.match(/<input id="to"[^>]*autofocus/);
    expect(html.match(/autofocus/g)).to.have.length(1);
    for (const value of ['Nowhere &amp;', 'ten', 'Ada &quot;L&quot;', '+1 202', 'R1']) {
      expect(html).to.include(`value="${value}"`);
    }
    expect(html).to.match(/name="need_pet"[^>]*checked/);
    expect(await ridesOfAccount()).to.equal(0);
  });

  it('swapped coordinates are corrected and asked once; sent again, the ride is booked', async () => {
    const { status, html } = await post({ to: '-73.9855, 40.758' });
    expect(status).to.equal(422);
    expect(html)
      .to.include('Please check this')
      .and.match(/<input id="to"[^>]*value="40.758, -73.9855"/);
    const rideId = await book({ to: '40.758, -73.9855', asked: askedIn(html) });
    expect((await storedRide(rideId)).destination).to.deep.equal({ lat: 40.758, lng: -73.9855 });
  });

  it('two doubts about one field are two sentences', async () => {
    const { html } = await post({ to: '-78.8784, 42.8864' });
    expect(html).to.match(/id="to-fault">[^<]*change it back\. This ride is 4\d\d km long/);
  });

  for (const [title, doubtful, words] of [
    ['a ride of more than 300 km', { to: '42.8864, -78.8784' }, /This ride is 4\d\d km long/],
    ['a fare of more than 3 times the usual fare', { fare: '$2390' }, /The fare is \$2,?390\.00; \$19\.49 is usual/],
    ['a fare of less than a third of the usual fare', { fare: '6.49' }, /The fare is \$6\.49; \$19\.49 is usual/],
  ] as const) {
    it(`${title} is asked once; sent again, the ride is booked`, async () => {
      const { status, html } = await post(doubtful);
      expect(status).to.equal(422);
      expect(html).to.include('Please check this').and.match(words);
      expect(await ridesOfAccount()).to.equal(0);
      await book({ ...doubtful, asked: askedIn(html) });
    });
  }

  it('without a usual fare, a fare above $500 is asked once', async () => {
    const live = await visitor.newKey('live');
    await chooseDeskKey(visitor.account._id, newFormId(), live.keyId);
    const far = { key: live.keyId, from: '-41.2865, 174.7762', to: '-41.3272, 174.8053' };
    const { status, html } = await post({ ...far, fare: '500.01' });
    expect(status).to.equal(422);
    expect(html).to.match(/The fare is \$500\.01\. Book/);
    await book({ ...far, fare: '500.01', asked: askedIn(html) });
    await book({ ...far, fare: '500' });
  });

  it('a booked form that is sent again with other values books no second ride, and keeps its form id only for a fault', async () => {
    const formId = newFormId();
    await post({ formId });
    expect((await post({ formId, fare: 'ten' })).html).to.include(`value="${formId}"`);
    const { status, html } = await post({ formId, fare: '33' });
    expect(status).to.equal(409);
    expect(html).to.include('value="33"').and.not.include(formId);
    expect(await ridesOfAccount()).to.equal(1);
  });

  it('a limit that is reached is said in words with the time until it frees, and keeps everything typed', async () => {
    const { createRide } = clientOf(api.url, key.key);
    for (let made = 0; made < 30; made++) expect((await createRide()).status).to.equal(201);
    const { status, headers, html } = await post({ passenger: 'Ada' });
    expect(status).to.equal(429);
    expect(Number(headers.get('retry-after'))).to.be.within(1, 60);
    expect(html).to.match(/at most 30 rides in 60 seconds for each key\. Try again in \d+ s\./);
    expect(html).to.include('value="Ada"');
  });

  it('without a key, with a revoked and with a suspended one, the desk says what to do and books nothing', async () => {
    const stranger = await signedIn(api);
    await stranger.newKey('live');
    await stranger.newKey('test');
    const none = await stranger.get(deskPath);
    expect(none.html).to.include('none is chosen yet').and.not.include('Book ride');
    expect(none.html).to.include('href="/dashboard/desk/settings"');
    await keys.updateOne({ _id: key.keyId }, { $set: { suspendedAt: new Date() } });
    expect((await visitor.get(deskPath)).html).to.include('has suspended the desk’s key “Front desk”');
    expect((await post()).status).to.equal(422);
    await keys.updateOne({ _id: key.keyId }, { $unset: { suspendedAt: 1 } });
    await revokeKey(key.keyId, 'anyone');
    expect((await visitor.get(deskPath)).html)
      .to.include('key “Front desk” is revoked')
      .and.not.include('Book ride');
    const { status, html } = await post({ passenger: 'Ada' });
    expect(status).to.equal(422);
    expect(html).to.include('is revoked').and.include('value="Ada"');
    expect(await ridesOfAccount()).to.equal(0);
  });

  it('the desk of an account with one key books with it', async () => {
    const owner = await signedIn(api);
    await owner.newKey();
    expect((await owner.get(deskPath)).html)
      .to.include('Book ride')
      .and.not.include('none is chosen yet');
  });

  it('a live key books live rides: the page says so, and a form that was opened for test rides is refused', async () => {
    expect((await visitor.get(deskPath)).html)
      .to.include('Test data')
      .and.not.include('Live rides');
    const live = await visitor.newKey('live');
    await chooseDeskKey(visitor.account._id, newFormId(), live.keyId);
    expect((await visitor.get(deskPath)).html)
      .to.include('Live rides')
      .and.not.include('Test data');
    const { status, html } = await post({ passenger: 'Ada' });
    expect(status).to.equal(409);
    expect(html).to.include('another key than before').and.include('value="Ada"');
    expect(await ridesOfAccount()).to.equal(0);
    const ride = await storedRide(await book({ key: live.keyId }));
    expect(ride).to.include({ mode: 'live', keyId: live.keyId });
    expect(ride.scenario).to.equal(undefined);
  });

  it('the fare hint names the usual fare of the trip in the form, and nothing until both places are known', async () => {
    const hint = async (changes: Record<string, string>) =>
      JSON.parse((await visitor.post(`${deskPath}/hint`, fields(changes))).html);
    expect(await hint({})).to.deep.equal({ words: '4.3 km, sample for test rides: $15.59 to $23.38', fare: '19.49' });
    expect(await hint({ to: 'Nowhere' })).to.deep.equal({});
  });

  for (const [title, zone, pickupTime, words] of [
    [
      'the first of two equal times, on the clocks of the desk and of the pickup',
      'Europe/Berlin',
      '2026-10-25T02:30',
      'Your clocks show this time twice. The ride is booked for the first: 2026-10-25 02:30 (Central European Summer Time). At the pickup: 2026-10-24 20:30 (Eastern Daylight Time).',
    ],
    [
      'the first of two equal times at the pickup',
      'America/New_York',
      '2026-11-01T01:30',
      'Your clocks show this time twice. The ride is booked for the first: 2026-11-01 01:30 (Eastern Daylight Time).',
    ],
    [
      'a skipped time after the gap',
      'America/New_York',
      '2027-03-14T02:30',
      'Your clocks skip this time. The ride is booked for 2027-03-14 03:30 (Eastern Daylight Time).',
    ],
    ['nothing if both clocks show the same', 'America/Toronto', '2027-07-01T09:00', undefined],
    ['the clocks of the pickup', '', '2027-07-01T09:00', 'At the pickup: 2027-07-01 05:00 (Eastern Daylight Time).'],
  ] as const) {
    it(`the hint of a pickup time shows ${title}`, async () => {
      const typed = { when: 'later', pickupTime, zone };
      const { clocks } = JSON.parse((await visitor.post(`${deskPath}/hint`, fields(typed))).html);
      expect(clocks && textOf(clocks).trim()).to.equal(words);
      // A form with a fault shows the same, also without scripts.
      const { html } = await post({ ...typed, fare: 'ten' });
      const shown = /id="pickup-clocks"[^>]*>(.*?)<\/p>/s.exec(html)?.[1] ?? '';
      expect(textOf(shown).trim()).to.equal(words ?? '');
    });
  }

  it('the hint of a pickup time shows no clocks of a place that does not exist', async () => {
    const typed = { when: 'later', pickupTime: '2027-07-01T09:00', from: 'Nowhere', fromPoint: '91,181 Nowhere' };
    const { status, html } = await visitor.post(`${deskPath}/hint`, fields(typed));
    expect([status, JSON.parse(html).clocks]).to.deep.equal([200, undefined]);
  });

  it('the fare is described by its hint', async () => {
    const { html } = await visitor.get(deskPath);
    expect(html).to.match(/<input id="fare"[^>]*aria-describedby="usual-fare"/);
    expect(html).to.match(/id="usual-fare">The usual fare appears here/);
  });
});
