import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { audit, commandLine } from '../../shared/accounts/audit.ts';
import { suspendAccount } from '../../shared/keys/suspend-account.ts';
import { eraseRide } from '../../shared/retention/erase-rides.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import type { RideStatus } from '../../shared/rides/ride-types.ts';
import { attempts } from '../../shared/webhooks/attempts.ts';
import { attemptRecord } from '../support/attempts.ts';
import { signedIn, type Visitor } from '../support/dashboard.ts';
import type { RideWish } from '../support/rides.ts';
import { attemptStates, cityHall, nothingSent, rideWithAttempts } from '../support/rides-with-attempts.ts';
import { useTestApi } from '../support/service.ts';
import { asVisitor, openAs } from './as-visitor.ts';
import { type Look, lookAt } from './browser.ts';

const phone = { viewport: { width: 360, height: 740 }, hasTouch: true };

describe('the pages of rides and deliveries', () => {
  // No workers run, so every delivery stays as the test has stored it.
  const api = useTestApi();

  const rideWith = (
    { account }: Visitor,
    keyId: string,
    status: RideStatus,
    outcomes: Parameters<typeof rideWithAttempts>[3],
    wish?: RideWish,
  ) => rideWithAttempts(api.ctx, { accountId: account._id, keyId, ...wish }, status, outcomes);

  it('empty lists and lists of every kind of ride and delivery pass layout and accessibility checks', async () => {
    const visitor = await signedIn(api, 'front.desk@grand-hotel.example');
    const look = (looks: [name: string, path: string][]) =>
      lookAt(
        api.url,
        looks.map(([name, path]): Look => [`dashboard-${name}`, `/dashboard${path}`]),
        asVisitor(visitor),
      );
    await look([
      ['rides-empty', '/rides'],
      ['deliveries-empty', '/deliveries'],
    ]);
    const [desk, ward] = [await visitor.newKey('live'), await visitor.newKey('test', 'Night ward, building 4')];
    const { delivered, failed, timeout, blocked, no_url } = attemptStates;
    for (const status of ['bidding', 'driver_arriving', 'arrived', 'in_progress', 'cancelled'] as const) {
      await rideWith(visitor, desk.keyId, status, [delivered, delivered]);
    }
    await rideWith(visitor, ward.keyId, 'completed', [delivered, failed, timeout], { mode: 'test', fare: 1_234.5 });
    const rideId = await rideWith(visitor, desk.keyId, 'completed', [delivered, blocked, failed, timeout, no_url]);
    await attempts.insertOne(
      attemptRecord({
        ...{ accountId: visitor.account._id, keyId: desk.keyId, kind: 'test', rideId: undefined, seq: undefined },
        ...{ outcome: 'waiting', ...nothingSent, durationMs: undefined, address: undefined, body: undefined },
      }),
      { ignoreUndefined: true },
    );
    const failedAttempt = await attempts.findOne({ accountId: visitor.account._id, outcome: 'failed' });
    const waitingAttempt = await attempts.findOne({ accountId: visitor.account._id, outcome: 'waiting' });
    await look([
      ['rides', '/rides'],
      ['rides-search-nothing', '/rides?q=RES-20334'],
      ['rides-filtered-to-nothing', `/rides?key=${desk.keyId}&to=2020-01-01`],
      ['rides-faults', '/rides?from=yesterday'],
      ['ride-created', `/rides/${rideId}?entry=created`],
      ['ride-event', `/rides/${rideId}?entry=event-3`],
      ['ride-delivery', `/rides/${rideId}?entry=delivery-1`],
      ['ride-delivery-timeout', `/rides/${rideId}?entry=delivery-5`],
      ['ride-delivery-no-url', `/rides/${rideId}?entry=delivery-6`],
      ['deliveries', '/deliveries'],
      ['deliveries-sent', '/deliveries?sent=12'],
      ['delivery-failed', `/deliveries/${failedAttempt?._id}`],
      ['delivery-waiting', `/deliveries/${waitingAttempt?._id}`],
    ]);
  });

  it('an erased ride and a suspended account pass layout and accessibility checks', async () => {
    const visitor = await signedIn(api, 'night.desk@grand-hotel.example');
    const accountId = visitor.account._id;
    const { keyId } = await visitor.newKey('live');
    const rideId = await rideWith(visitor, keyId, 'completed', Array(6).fill(attemptStates.delivered));
    await eraseRide(rideId);
    await suspendAccount(accountId);
    const noted = { accountId, from: commandLine, by: 'grace' };
    await audit({ ...noted, action: 'ride_erased', about: rideId }, api.ctx.now() - 60_000);
    await audit({ ...noted, action: 'account_suspended' }, api.ctx.now());
    const create = async (page: Page) => {
      await page.getByLabel('Name').fill('Another');
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('heading', { name: 'This account is suspended' }).waitFor();
    };
    const looks: Look[] = [
      ['dashboard-ride-erased', `/dashboard/rides/${rideId}`],
      ['dashboard-ride-erased-created', `/dashboard/rides/${rideId}?entry=created`],
      ['dashboard-ride-erased-delivery', `/dashboard/rides/${rideId}?entry=delivery-3`],
      ['dashboard-account-suspended', '/dashboard/account'],
      ['dashboard-key-suspended', `/dashboard/keys/${keyId}`],
      ['dashboard-suspended-refusal', '/dashboard/keys/new', create],
    ];
    await lookAt(api.url, looks, asVisitor(visitor));
  });

  /** Two rides, one of them with long texts, and one event that did not arrive. */
  async function listedRides() {
    const visitor = await signedIn(api);
    const desk = await visitor.newKey('test', 'Night ward of the children’s hospital, building 4');
    const { delivered, failed } = attemptStates;
    const long = 'Saint Bartholomew’s Rehabilitation and Convalescence Centre, 1,200 Kensington Boulevard, New York';
    await rideWith(visitor, desk.keyId, 'bidding', [delivered], { mode: 'test' });
    const rideId = await rideWith(visitor, desk.keyId, 'driver_arriving', [delivered, delivered, failed], {
      ...{ reference: 'RES-20332', fare: 1_234.5, mode: 'test' },
      passenger: { name: 'Maximiliane Wolfeschlegelsteinhausenbergerdorff' },
      destination: { ...cityHall, address: long },
    });
    return { visitor, rideId, url: `${api.url}/dashboard/rides` };
  }

  /** A ride with a delivery of each outcome. */
  async function listedDeliveries() {
    const visitor = await signedIn(api);
    const { keyId } = await visitor.newKey('live', 'Night ward of building 4');
    const rideId = await rideWith(visitor, keyId, 'completed', Object.values(attemptStates));
    return { visitor, rideId };
  }

  it('applies filters when they are chosen and keeps the focus, and goes back', async () => {
    const { visitor, url, rideId } = await listedRides();
    const page = await openAs(visitor, url);
    await page.evaluate(() => Object.assign(window, { isSamePage: true }));
    const rows = page.locator('.table.rides tbody tr');
    await page.getByLabel('Status').selectOption('bidding');
    await page.waitForURL(/\?status=bidding$/);
    expect(await rows.count()).to.equal(1);
    await page.getByLabel('From').fill('2020-01-01');
    await page.waitForURL(/from=2020-01-01&zone=America%2FNew_York/);
    expect(await page.evaluate(() => document.activeElement?.id)).to.equal('from');
    expect(await page.getByRole('button', { name: 'Filter' }).isVisible()).to.equal(false);
    expect(await page.evaluate(() => 'isSamePage' in window)).to.equal(true);
    await page.getByLabel('Mode').selectOption('test');
    await page.locator('.test-band').waitFor();
    await page.goto(url);
    await page.getByLabel('Status').selectOption('cancelled');
    await page.getByText('No ride matches these filters.').waitFor();
    await page.goBack();
    await page.waitForFunction(() => document.querySelectorAll('.table.rides tbody tr').length === 2);
    expect(await page.getByLabel('Status').inputValue()).to.equal('');
    await page.getByLabel('Search rides').fill('RES-20332');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/rides/${rideId}`);
    expect(page.complaints).to.deep.equal([]);
  });

  for (const list of ['rides', 'deliveries']) {
    it(`shows the list of ${list} without clipping from 1,024 to 1,920 px`, async () => {
      const { visitor } = await listedRides();
      const page = await openAs(visitor, `${api.url}/dashboard/${list}`);
      for (const width of [1_024, 1_280, 1_920]) {
        await page.setViewportSize({ width, height: 800 });
        const clipped = await page.evaluate((table) => {
          const isClipped = ({ scrollWidth, clientWidth }: Element) => clientWidth > 0 && scrollWidth > clientWidth + 1;
          const shown = document.querySelectorAll(`main, ${table}, ${table} :is(td, td :not(.spoken))`);
          return [...shown].filter(isClipped).map(({ outerHTML }) => outerHTML.slice(0, 200));
        }, `.table.${list}`);
        expect(clipped, `${width} px`).to.deep.equal([]);
      }
    });

    it(`shows each row of the list of ${list} as a card of three lines that is one link, on a phone`, async () => {
      const { visitor, rideId } = await (list === 'rides' ? listedRides() : listedDeliveries());
      const page = await openAs(visitor, `${api.url}/dashboard/${list}`, phone);
      const cards = page.locator(`.table.${list} tbody tr`);
      for (const card of await cards.all()) expect((await card.boundingBox())?.height).to.be.within(44, 120);
      const card = cards.filter({ hasText: list === 'rides' ? 'Maximiliane' : '503' });
      const { width = 0, height = 0 } = (await card.boundingBox()) ?? {};
      await card.tap({ position: { x: width - 8, y: height - 8 } });
      await page.waitForURL(list === 'rides' ? `**/rides/${rideId}` : /\/deliveries\/att_/);
    });
  }

  it('folds the filters on a phone, and keeps them open after a choice', async () => {
    const { visitor, url } = await listedRides();
    const page = await openAs(visitor, url, phone);
    expect(await page.getByLabel('Status').isVisible()).to.equal(false);
    const summary = page.locator('.filters-fold > summary');
    expect((await summary.boundingBox())?.height).to.be.at.least(44);
    await summary.click();
    await page.getByLabel('Status').selectOption('driver_arriving');
    await page.waitForURL(/status=driver_arriving/);
    expect(await page.getByLabel('Status').isVisible()).to.equal(true);
  });

  it('shows on the overview what has just happened, without a reload', async () => {
    const visitor = await signedIn(api);
    const { keyId } = await visitor.newKey('live');
    const { delivered, failed } = attemptStates;
    const rideId = await rideWith(visitor, keyId, 'driver_arriving', [delivered, delivered, failed]);
    const page = await openAs(visitor, `${api.url}/dashboard`);
    await page.getByText('1 event did not arrive').waitFor();
    const row = page.locator('#under-way .table.rides tr', { hasText: 'driver arriving' });
    await row.getByRole('link', { name: 'Ada Lovelace' }).focus();
    await applyAction(api.ctx, rideId, { action: 'arrive' }, 'anyone');
    await page.locator('#under-way .pill', { hasText: 'arrived' }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.closest('tr') !== null)).to.equal(true);
    await applyAction(api.ctx, rideId, { action: 'cancel', by: 'driver' }, 'anyone');
    await page.getByText('No ride is under way.').waitFor();
    await page.getByText('The driver cancelled').waitFor();
    expect(page.complaints).to.deep.equal([]);
  });

  it('the overview is kept up to date after a moment in which the service cannot answer', async () => {
    const visitor = await signedIn(api);
    const { rideId } = await visitor.rideIn('driver_arriving');
    const page = await openAs(visitor, `${api.url}/dashboard`);
    const status = (text: string) => page.locator('#under-way .pill', { hasText: text }).waitFor();
    await status('driver arriving');
    const unavailable = { status: 503, contentType: 'text/html', body: '<h1>Not available</h1>' };
    await page.route(`${api.url}/dashboard`, (route) => route.fulfill(unavailable), { times: 1 });
    await applyAction(api.ctx, rideId, { action: 'arrive' }, 'anyone');
    await status('arrived');
  });
});
