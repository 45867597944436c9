import path from 'node:path';
import { expect } from 'chai';
import { audit, commandLine } from '../../shared/accounts/audit.ts';
import type { Mode } from '../../shared/base/terms.ts';
import { createKey } from '../../shared/keys/manage-keys.ts';
import { suspendAccount } from '../../shared/keys/suspend-account.ts';
import { eraseRide } from '../../shared/retention/erase-rides.ts';
import { applyAction } from '../../shared/rides/change-ride.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { RideStatus } from '../../shared/rides/ride-types.ts';
import { attempts } from '../../shared/webhooks/attempts.ts';
import { attemptRecord } from '../support/attempts.ts';
import { signedIn, type Visitor } from '../support/dashboard.ts';
import type { RideWish } from '../support/rides.ts';
import { attemptStates, cityHall, nothingSent, rideWithAttempts } from '../support/rides-with-attempts.ts';
import { useTestApi } from '../support/service.ts';
import { asVisitor } from './as-visitor.ts';
import { closeProfiles, lookAt, openPage, openProfile, shotFolder } from './browser.ts';

describe('the pages of rides and deliveries', () => {
  // No workers run, so every delivery stays as the test has stored it.
  const api = useTestApi();
  afterEach(closeProfiles);

  const newKey = ({ account }: Visitor, name: string, mode: Mode = 'live') =>
    createKey(api.ctx.config, { accountId: account._id, name, mode });

  const rideWith = (
    { account }: Visitor,
    keyId: string,
    status: RideStatus,
    outcomes: Parameters<typeof rideWithAttempts>[3],
    wish?: RideWish,
  ) => rideWithAttempts(api.ctx, { accountId: account._id, keyId, ...wish }, status, outcomes);

  it('full, empty and unmatched lists pass layout and accessibility checks', async () => {
    const visitor = await signedIn(api, 'front.desk@grand-hotel.example');
    const look = (name: string, path: string) =>
      lookAt(`dashboard-rides-${name}`, `${api.url}/dashboard${path}`, {
        options: asVisitor(visitor),
        fullPage: true,
      });
    await look('empty', '/rides');
    await look('deliveries-empty', '/deliveries');
    const [desk, ward] = [await newKey(visitor, 'Front desk'), await newKey(visitor, 'Night ward, building 4', 'test')];
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
    await look('list', '/rides');
    await look('overview', '');
    await look('search', '/rides?q=times+square');
    await look('search-nothing', '/rides?q=RES-20334');
    await look('filtered-to-nothing', `/rides?key=${desk.keyId}&to=2020-01-01`);
    await look('faults', '/rides?from=yesterday');
    await look('unknown-id', '/rides?id=ride_of_somebody');
    await look('ride', `/rides/${rideId}`);
    for (const entry of ['created', 'event-3', 'delivery-1', 'delivery-5', 'delivery-6']) {
      await look(`ride-${entry}`, `/rides/${rideId}?entry=${entry}`);
    }
    await look('deliveries', '/deliveries');
    await look('deliveries-sent', '/deliveries?sent=12');
    const arrived = await rides.findOne({ keyId: desk.keyId, status: 'arrived' });
    await look('ride-cancel', `/rides/${arrived?._id}/cancel`);
    for (const outcome of ['failed', 'waiting'] as const) {
      const attempt = await attempts.findOne({ accountId: visitor.account._id, outcome });
      await look(`delivery-${outcome}`, `/deliveries/${attempt?._id}`);
    }
  }).timeout(300_000);

  it('an erased ride and a suspended account pass layout and accessibility checks', async () => {
    const visitor = await signedIn(api, 'night.desk@grand-hotel.example');
    const { account } = visitor;
    const options = asVisitor(visitor);
    const look = (name: string, path: string) =>
      lookAt(`dashboard-${name}`, `${api.url}/dashboard${path}`, { options, fullPage: true });
    const { keyId } = await newKey(visitor, 'Front desk');
    const rideId = await rideWith(visitor, keyId, 'completed', Array(6).fill(attemptStates.delivered));
    await eraseRide(rideId);
    await look('ride-erased', `/rides/${rideId}`);
    await look('ride-erased-created', `/rides/${rideId}?entry=created`);
    await look('ride-erased-delivery', `/rides/${rideId}?entry=delivery-3`);
    await suspendAccount(account._id);
    const noted = { accountId: account._id, from: commandLine, by: 'grace' };
    await audit({ ...noted, action: 'ride_erased', about: rideId }, api.ctx.now() - 60_000);
    await audit({ ...noted, action: 'account_suspended' }, api.ctx.now());
    await look('account-suspended', '/account');
    await look('key-suspended', `/keys/${keyId}`);
    await lookAt('dashboard-suspended-refusal', `${api.url}/dashboard/keys/new`, {
      options,
      prepare: async (page) => {
        await page.getByLabel('Name').fill('Another');
        await page.getByRole('button', { name: 'Create key' }).click();
        await page.getByRole('heading', { name: 'This account is suspended' }).waitFor();
      },
    });
  }).timeout(300_000);

  /** Two rides, one of them with long texts, and one event that did not arrive. */
  async function listedRides() {
    const visitor = await signedIn(api);
    const desk = await newKey(visitor, 'Night ward of the children’s hospital, building 4', 'test');
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

  it('applies filters when they are chosen and keeps the focus, and goes back', async () => {
    const { visitor, url } = await listedRides();
    const page = await openPage(await openProfile(asVisitor(visitor)), url);
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
    expect(page.complaints).to.deep.equal([]);
  });

  it('shows the list of rides without clipping from 1,024 to 1,920 px', async () => {
    const { visitor, url } = await listedRides();
    const page = await openPage(await openProfile(asVisitor(visitor)), url);
    for (const width of [1_024, 1_280, 1_920]) {
      await page.setViewportSize({ width, height: 800 });
      const clipped = await page.evaluate(() => {
        const isClipped = ({ scrollWidth, clientWidth }: Element) => clientWidth > 0 && scrollWidth > clientWidth + 1;
        const shown = document.querySelectorAll('main, .table.rides, .table.rides td, .table.rides td :not(.spoken)');
        return [...shown].filter(isClipped).map(({ outerHTML }) => outerHTML.slice(0, 200));
      });
      expect(clipped, `${width} px`).to.deep.equal([]);
      await page.screenshot({ path: path.join(shotFolder, `dashboard-rides-${width}.png`) });
    }
  });

  it('shows each ride as a card of three lines that is one link, and folds the filters, on a phone', async () => {
    const { visitor, url, rideId } = await listedRides();
    const options = asVisitor(visitor, { viewport: { width: 360, height: 740 }, hasTouch: true });
    const page = await openPage(await openProfile(options), url);
    const card = page.locator('.table.rides tbody tr', { hasText: 'Maximiliane' });
    const box = await card.boundingBox();
    expect(box?.height).to.be.within(44, 120);
    expect(await page.getByLabel('Status').isVisible()).to.equal(false);
    const summary = page.locator('.filters-fold > summary');
    expect((await summary.boundingBox())?.height).to.be.at.least(44);
    await summary.click();
    await page.getByLabel('Status').selectOption('driver_arriving');
    await page.waitForURL(/status=driver_arriving/);
    expect(await page.getByLabel('Status').isVisible()).to.equal(true);
    await card.tap({ position: { x: (box?.width ?? 0) - 8, y: (box?.height ?? 0) - 8 } });
    await page.waitForURL(`**/rides/${rideId}`);
  });

  it('shows on the overview what has just happened, without a reload', async () => {
    const visitor = await signedIn(api);
    const { keyId } = await newKey(visitor, 'Front desk');
    const { delivered, failed } = attemptStates;
    const rideId = await rideWith(visitor, keyId, 'driver_arriving', [delivered, delivered, failed]);
    const page = await openPage(await openProfile(asVisitor(visitor)), `${api.url}/dashboard`);
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

  it('finds a ride by its reference and filters rides with only the keyboard', async () => {
    const { visitor, url, rideId } = await listedRides();
    const page = await openPage(await openProfile(asVisitor(visitor)), url);
    await page.getByLabel('Status').focus();
    await page.keyboard.type('cancelled');
    await page.waitForURL(/status=cancelled/);
    await page.getByText('No ride matches these filters.').waitFor();
    await page.getByRole('link', { name: 'Show all rides' }).press('Enter');
    await page.locator('.table.rides').waitFor();
    await page.getByLabel('Search rides').focus();
    await page.keyboard.type('RES-20332');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/rides/${rideId}`);
    expect(page.complaints).to.deep.equal([]);
  });
});
