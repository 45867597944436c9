import { expect } from 'chai';
import { eventId, withdrawnEventId } from '../../../shared/base/ids.ts';
import { moneyText, shortId } from '../../../web/kit/facts.tsx';
import { timeIn } from '../../../web/kit/lists.tsx';
import { storedAttempts } from '../../support/attempts.ts';
import { signedIn, useVisitor } from '../../support/dashboard.ts';
import { hrefsIn, textOf } from '../../support/pages.ts';
import { newRide } from '../../support/rides.ts';
import { useTestApi } from '../../support/service.ts';

describe("the dashboard's list of rides", () => {
  const api = useTestApi();
  const visitor = useVisitor(api);

  const ridesIn = (html: string) =>
    hrefsIn(html).flatMap((href) => /^\/dashboard\/rides\/(ride_\w+)$/.exec(href)?.[1] ?? []);

  it('the list shows the passenger or reference first, then trip, status, time, price and key, and the id last', async () => {
    const { rideId } = await visitor.rideIn('driver_arriving', {
      fare: 1_234.5,
      offers: [{ price: 20 }, { price: 21 }],
      reference: 'RES-20332',
      passenger: { name: 'Ada Lovelace' },
      pickup: { lat: 40.7128, lng: -74.006, address: 'Times Square' },
      destination: { lat: 40.758, lng: -73.9855, address: 'City Hall' },
    });
    const { html, status } = await visitor.get('/dashboard/rides');
    expect(status).to.equal(200);
    expect(ridesIn(html)).to.deep.equal([rideId]);
    const row = textOf(html.split('<tbody>')[1] ?? '');
    const parts = ['Ada Lovelace', 'RES-20332', 'From Times Square', 'to City Hall', 'driver arriving'];
    parts.push('UTC', moneyText(20), 'agreed', 'Front desk', shortId(rideId));
    const places = parts.map((part) => row.indexOf(part));
    expect(places, row).to.deep.equal(places.toSorted((a, b) => a - b));
    expect(places).not.to.include(-1);
  });

  it('shows the reference of a ride without a passenger, and the proposed price', async () => {
    await visitor.rideIn('bidding', { fare: 1_234.5, reference: 'Room 12' });
    const { html } = await visitor.get('/dashboard/rides');
    expect(html).to.match(/<a href="\/dashboard\/rides\/ride_\w+">Room 12</);
    expect(textOf(html)).to.include(`${moneyText(1_234.5)} proposed`);
  });

  it('the list filters rides by key, status, mode and time from the URL', async () => {
    const { rideId: bidding, keyId } = await visitor.rideIn('bidding');
    const { rideId: done } = await visitor.rideIn('completed', { mode: 'test' });
    const shown = async (query: string) => ridesIn((await visitor.get(`/dashboard/rides?${query}`)).html);
    expect(await shown('')).to.deep.equal([done, bidding]);
    expect(await shown(`key=${keyId}`)).to.deep.equal([bidding]);
    expect(await shown('status=completed')).to.deep.equal([done]);
    expect(await shown('status=under_way')).to.deep.equal([bidding]);
    expect(await shown('mode=test')).to.deep.equal([done]);
    expect(await shown(`key=${keyId}&mode=test`)).to.deep.equal([]);
    expect(await shown('from=2020-01-01T00:00')).to.deep.equal([done, bidding]);
    expect(await shown('to=2020-01-01')).to.deep.equal([]);
    const { html } = await visitor.get('/dashboard/rides?status=completed&mode=test');
    expect(html).to.match(/<option[^>]* selected[^>]*value="completed"|<option value="completed" selected/);
    expect(html).to.include('Test data');
  });

  it('pages through rides without repeats or gaps while new rides are created', async () => {
    const { keyId } = await visitor.newKey('live');
    const rideOf = () => newRide(api.ctx, { keyId, accountId: visitor.account._id });
    const made: string[] = [];
    for (let ride = 0; ride < 120; ride++) made.push(await rideOf());
    const seen: string[] = [];
    let path: string | undefined = '/dashboard/rides?status=bidding';
    for (let pages = 0; path && pages < 10; pages++) {
      const { html } = await visitor.get(path);
      seen.push(...ridesIn(html));
      await rideOf();
      path = hrefsIn(html).find((href) => href.includes('after='));
    }
    expect(seen.sort()).to.deep.equal(made.sort());
  });

  it('the page says that no ride matches the filters, and offers all rides', async () => {
    const { keyId } = await visitor.newKey();
    const filtered = textOf((await visitor.get(`/dashboard/rides?key=${keyId}&status=arrived`)).html);
    expect(filtered).to.include('No ride matches these filters').and.to.include('Show all rides');
  });

  it('an invalid time gets an error that names the fault, and the typed text is kept', async () => {
    for (const [query, fault] of [
      ['from=yesterday', '“From” must be a day'],
      ['to=2026-02-30', '“To” must be a day'],
      ['from=2026-02-03&to=2026-02-01', '“To” must be later than “From”'],
      ['from=2026-02-01T10:00&to=2026-02-01T10:00', '“To” must be later than “From”'],
    ] as const) {
      const { html, status } = await visitor.get(`/dashboard/rides?${query}`);
      expect(status).to.equal(422);
      expect(html).to.include('<title>Error: Rides');
      expect(textOf(html).split(fault)).to.have.length(3, 'in the summary and at the field');
    }
    expect((await visitor.get('/dashboard/rides?from=yesterday')).html).to.include('value="yesterday"');
  });

  it('filters by days of the zone in the URL', () => {
    // Clocks in New York are set forward on March 8.
    for (const [zone, start, end] of [
      ['America/New_York', '2026-03-08T05:00', '2026-03-09T04:00'],
      ['Asia/Kolkata', '2026-03-07T18:30', '2026-03-08T18:30'],
      ['UTC', '2026-03-08T00:00', '2026-03-09T00:00'],
    ] as const) {
      expect(timeIn('2026-03-08', 'start', zone), zone).to.deep.equal(new Date(`${start}Z`));
      expect(timeIn('2026-03-08', 'end', zone), zone).to.deep.equal(new Date(`${end}Z`));
    }
    // Clocks in Havana skip the hour after midnight, so this day begins at 1:00.
    expect(timeIn('2024-03-10', 'start', 'America/Havana')).to.deep.equal(new Date('2024-03-10T05:00Z'));
    expect(timeIn('2024-03-09', 'end', 'America/Havana')).to.deep.equal(new Date('2024-03-10T05:00Z'));
  });

  it('lists the rides with the words of the search field, and opens the ride of a pasted reference', async () => {
    const made = async (reference: string, name: string) =>
      (await visitor.rideIn('bidding', { reference, passenger: { name } })).rideId;
    const [first, second] = [await made('RES-20332', 'Ada Lovelace'), await made('RES-20333', 'Ada Byron')];
    const search = (text: string, more = '') => visitor.get(`/dashboard/rides?q=${encodeURIComponent(text)}${more}`);
    expect(ridesIn((await search('ada')).html)).to.have.members([first, second]);
    expect(ridesIn((await search('lovelace')).html)).to.deep.equal([first]);
    expect(ridesIn((await search('ada', '&status=cancelled')).html)).to.deep.equal([]);
    const pasted = await search(' res-20332 ');
    expect([pasted.status, pasted.headers.get('location')]).to.deep.equal([303, `/dashboard/rides/${first}`]);
    const none = await search('RES-20334');
    expect(none.status).to.equal(200);
    expect(textOf(none.html)).to.include('No ride matches “RES-20334”').and.include('erased 30 days after');
    expect(ridesIn((await (await signedIn(api)).get('/dashboard/rides?q=ada')).html)).to.deep.equal([]);
  });

  it('a search for a ride, event or attempt id opens its page, but not that of another account', async () => {
    const [visitor, stranger] = [await signedIn(api), await signedIn(api)];
    const { rideId, path } = await visitor.rideIn('bidding');
    const [{ _id: attemptId } = {} as never] = await storedAttempts([{ accountId: visitor.account._id, rideId }]);
    for (const [id, expected] of [
      [` ${rideId} `, path],
      [eventId(rideId, 3), `${path}?entry=delivery-3#detail`],
      [withdrawnEventId(rideId, 'offer_1a2B'), `${path}?entry=withdrawn-offer_1a2B#detail`],
      [attemptId, `/dashboard/deliveries/${attemptId}`],
      // Of a test event.
      [eventId(attemptId, 1), `/dashboard/deliveries/${attemptId}`],
    ] as const) {
      for (const field of ['q', 'id']) {
        const query = `/dashboard/rides?${field}=${encodeURIComponent(id)}`;
        expect((await visitor.get(query)).headers.get('location')).to.equal(expected);
        const { html, status } = await stranger.get(query);
        expect(status).to.equal(422);
        expect(textOf(html)).to.include('No ride, event or attempt of this account has this id');
      }
    }
  });

  it('the list accepts any text in its URL and escapes it', async () => {
    const markup = encodeURIComponent('"><script>alert(1)</script>');
    for (const name of ['status', 'mode', 'from', 'to', 'zone', 'after', 'q', 'id']) {
      const { html, status } = await visitor.get(`/dashboard/rides?${name}=${markup}`);
      expect(status).to.be.oneOf([200, 422]);
      expect(html).not.to.include('<script>alert');
    }
  });
});
