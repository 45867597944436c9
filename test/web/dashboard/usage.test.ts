import { expect } from 'chai';
import type { Mode } from '../../../shared/base/terms.ts';
import { revokeKey } from '../../../shared/keys/manage-keys.ts';
import { rotateKey } from '../../../shared/keys/replace-secret.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { linesPerPart, statementParts } from '../../../shared/usage/trip-sums.ts';
import { shortId } from '../../../web/kit/facts.tsx';
import { signedIn, useVisitor, type Visitor } from '../../support/dashboard.ts';
import { ownDatabase } from '../../support/own-database.ts';
import { textOf } from '../../support/pages.ts';
import { useTestApi } from '../../support/service.ts';
import { at, newKey, ridesAt, sumThrough, tripsAt } from '../../support/usage.ts';

describe('the usage pages', () => {
  const api = useTestApi(async () => ({ MONGO_URL: (await ownDatabase()).url }));
  const visitor = useVisitor(api);
  beforeEach(() => {
    // The pages show the current month, so the clock is fixed.
    api.ctx.now = () => at('2026-11-21 12:00').getTime();
  });

  const keyOf = ({ account }: Visitor, name: string, mode: Mode = 'live') =>
    newKey({ accountId: account._id, name, mode });
  const csvOf = async (visitor: Visitor, month: string) =>
    (await visitor.get(`/dashboard/usage/${month}/statement.csv`)).html.split('\r\n');

  it('the page has active keys, rides by mode, keys with traffic, the busiest key and the pricing rule', async () => {
    const lobby = await keyOf(visitor, 'Lobby');
    const developers = await keyOf(visitor, 'Developers', 'test');
    const old = await keyOf(visitor, 'Old desk');
    await keyOf(visitor, 'Spare');
    await ridesAt(lobby, at('2026-11-05 10:00'), at('2026-11-21 11:00'));
    await ridesAt(old, at('2026-10-05 10:00'), at('2026-11-20 11:00'), at('2026-11-20 12:00'));
    await ridesAt(developers, at('2026-11-21 11:00'));
    await revokeKey(old.keyId, { accountId: old.accountId });
    await rotateKey(lobby.keyId, { accountId: old.accountId });
    for (const until of [undefined, at('2026-11-21 00:00')]) {
      if (until) await sumThrough(until);
      const { status, html } = await visitor.get('/dashboard/usage');
      const text = textOf(html);
      expect(status).to.equal(200);
      expect(text).to.include('Active keys 3 1 revoked');
      expect(text).to.include('Rides created 6 5 live, 1 test');
      expect(text).to.include('Keys with traffic 3');
      expect(text).to.include('Busiest key Old desk 3 rides');
      expect(text).to.include('You pay only for trips taken');
      expect(text).to.include('Old desk revoked live 2 3');
      expect(text).to.include('1 active key without rides');
    }
  });

  it('the page shows the rides of the last 30 days as a chart and as a table', async () => {
    const key = await keyOf(visitor, 'Lobby');
    const test = await keyOf(visitor, 'Developers', 'test');
    await ridesAt(key, at('2026-10-22 23:59:59.999'), at('2026-10-23 00:00'), at('2026-11-21 11:00'));
    await ridesAt(test, at('2026-11-21 11:00'), at('2026-11-21 11:00'));
    const text = textOf((await visitor.get('/dashboard/usage')).html);
    expect(text).to.include('2 live rides');
    expect(text).to.include('2 test rides');
    expect(text).to.include('21 November: 1 live, 2 test');
    expect(text).to.include('23 October 1 0 1');
    expect(text).not.to.include('22 October 1 0 1');
  });

  it('the page shows the rides of the month in the URL, and links to each month', async () => {
    const key = await keyOf(visitor, 'Lobby');
    await ridesAt(key, at('2026-09-30 23:59:59.999'), at('2026-10-01 00:00'), at('2026-10-31 23:59:59.999'));
    const { html } = await visitor.get('/dashboard/usage?month=2026-10');
    expect(textOf(html)).to.include('2 live rides').and.to.include('31 October: 1 live, 0 test');
    expect(html).to.match(/role="img"[^>]* aria-label="Rides a day, October 2026: 2 rides, the most on 1 October: 1"/);
    expect(/aria-label="Rides a day">.*?<\/table>/s.exec(html)?.[0].match(/<tr>/g)).to.have.length(32);
    expect(html).to.include('href="/dashboard/usage?month=2026-09"');
    expect(html).not.to.include('href="/dashboard/usage?month=2026-08"');
  });

  it('a statement lists the completed live trips of an open or closed month with prices and sum', async () => {
    const key = await keyOf(visitor, 'Lobby');
    const [first] = await tripsAt(key, 12.5, at('2026-11-05 14:03:22.123'));
    await tripsAt(key, 1_000.1, at('2026-11-06 10:00'));
    await tripsAt({ ...key, mode: 'test' }, 70, at('2026-11-05 10:00'));
    const [past] = await tripsAt(key, 8, at('2026-10-05 10:00'));
    await sumThrough(at('2026-11-21 00:00'));
    const november = textOf((await visitor.get('/dashboard/usage/2026-11')).html);
    expect(november).to.include('Statement for November 2026');
    expect(november).to.include('$1,012.60 so far 2 completed live trips');
    const trip = '40.758, -73.9855 to 40.7128, -74.006';
    expect(november).to.include(`${trip} 2026-11-05 14:03:22 Lobby ${shortId(first ?? '')} $12.50`);
    expect(november).to.include('Sum of all 2 trips $1,012.60');
    expect(november).to.include('The month closes on 1 December 2026, 01:00 UTC');
    const october = textOf((await visitor.get('/dashboard/usage/2026-10')).html);
    expect(october)
      .to.include(`Lobby ${shortId(past ?? '')} $8.00`)
      .and.to.include('Sum of 1 trip $8.00');
    expect(october).not.to.include('so far');
  });

  it('shows reference and trip on the page and in the CSV until the ride is erased, and never stores them', async () => {
    const key = await keyOf(visitor, 'Lobby');
    const [rideId = ''] = await tripsAt(key, 12.5, at('2026-10-05 14:03'));
    const personal = { reference: 'RES-20332', 'pickup.address': 'Pier 4; Gate', 'destination.address': '=Museum' };
    await rides.updateOne({ _id: rideId }, { $set: personal });
    await sumThrough(at('2026-11-21 00:00'));
    const page = async () => textOf((await visitor.get('/dashboard/usage/2026-10')).html);
    const row = async () => (await csvOf(visitor, '2026-10'))[1];
    expect(await page()).to.include('RES-20332 Pier 4; Gate to =Museum');
    expect(await row()).to.include(`,12.50,RES-20332,"Pier 4; Gate",'=Museum`);
    expect(JSON.stringify(await statementParts.find({ '_id.accountId': key.accountId }).toArray()))
      .to.include(rideId)
      .and.not.match(/RES-20332|Pier 4|Museum/);
    await rides.updateOne({ _id: rideId }, { $set: { erasedAt: new Date() }, $unset: { reference: 1 } });
    expect(await page())
      .to.include('shown until the personal data of a ride is erased')
      .and.not.match(/RES-20332|Pier 4/);
    expect(await row()).to.match(/,12\.50,,,$/);
  });

  it('the statement reports a month without completed trips', async () => {
    const { status, html } = await visitor.get('/dashboard/usage/2026-10');
    expect(status).to.equal(200);
    expect(textOf(html)).to.include('No live trip was completed in October 2026.');
  });

  it('a long statement is split into pages, with the sum on the last page', async () => {
    const key = await keyOf(visitor, 'Lobby');
    const start = at('2026-10-05 10:00').getTime();
    await tripsAt(key, 2, ...Array.from({ length: linesPerPart + 1 }, (_, index) => new Date(start + index)));
    for (const until of [undefined, at('2026-11-21 00:00')]) {
      if (until) await sumThrough(until);
      const first = textOf((await visitor.get('/dashboard/usage/2026-10')).html);
      const last = textOf((await visitor.get('/dashboard/usage/2026-10?page=2')).html);
      expect(first).to.include('$1,002.00').and.to.include('Page 1 of 2').and.not.to.include('Sum of');
      expect(last).to.include('Page 2 of 2').and.to.include('Sum of all 501 trips $1,002.00');
      for (const page of ['3', '0', '-1', '1.5', 'x', '9999999'])
        expect((await visitor.get(`/dashboard/usage/2026-10?page=${page}`)).status, page).to.equal(404);
    }
  });

  for (const month of ['2026-12', '2027-01', '2026-13', '2026-1', '11', 'x', '__proto__', '2026-11-05']) {
    it(`the statement, CSV and chart of ${month} answer 404`, async () => {
      for (const path of [`/${month}`, `/${month}/statement.csv`, `?month=${month}`])
        expect((await visitor.get(`/dashboard/usage${path}`)).status, path).to.equal(404);
    });
  }

  it('the CSV contains a row per trip, in UTF-8 with CRLF', async () => {
    const key = await keyOf(visitor, 'Empfang "Süd", Tür 2');
    const [second] = await tripsAt(key, 0.2, at('2026-10-06 10:00'));
    const [first] = await tripsAt(key, 1_000.1, at('2026-10-05 14:03:22.123'));
    const name = '"Empfang ""Süd"", Tür 2"';
    const places = '"40.758, -73.9855","40.7128, -74.006"';
    const expected = [
      'Ride ID,Ended (UTC),Key ID,Key name,Agreed price (USD),Reference,From,To',
      `${first},2026-10-05T14:03:22.123Z,${key.keyId},${name},1000.10,,${places}`,
      `${second},2026-10-06T10:00:00.000Z,${key.keyId},${name},0.20,,${places}`,
      '',
    ];
    for (const until of [undefined, at('2026-11-21 00:00')]) {
      if (until) await sumThrough(until);
      expect(await csvOf(visitor, '2026-10')).to.deep.equal(expected);
    }
    const { headers } = await visitor.get('/dashboard/usage/2026-10/statement.csv');
    expect(headers.get('content-type')).to.equal('text/csv; charset=utf-8; header=present');
    expect(headers.get('content-disposition')).to.equal('attachment; filename="rides-2026-10.csv"');
    expect(headers.get('cache-control')).to.equal('no-store');
  });

  it('the CSV contains only the header for a month without trips', async () => {
    expect((await csvOf(await signedIn(api), '2026-10')).slice(1)).to.deep.equal(['']);
  });

  it('the pages show no usage of another account, neither before nor after it is summed', async () => {
    const other = await signedIn(api);
    await keyOf(visitor, 'Lobby');
    const shownTo = ({ get }: Visitor) =>
      Promise.all(
        ['', '?month=2026-10', '/2026-10', '/2026-10/statement.csv'].map(async (path) =>
          textOf((await get(`/dashboard/usage${path}`)).html),
        ),
      );
    const before = await shownTo(visitor);
    await tripsAt(await keyOf(other, 'Secret desk'), 77.77, at('2026-10-25 10:00'));
    for (const until of [undefined, at('2026-11-21 00:00')]) {
      if (until) await sumThrough(until);
      for (const text of await shownTo(other)) expect(text).to.include('77.77');
      expect(await shownTo(visitor)).to.deep.equal(before);
    }
  });
});
