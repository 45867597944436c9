import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { streetTiles } from '../../dev/streets/street-tiles.ts';
import { newGatewayDriver, somewhere } from '../support/drivers.ts';
import { useStarted } from '../support/use-started.ts';
import { expectNotTooWide, lookAround, openPage, openProfile, type TestPage } from './browser.ts';
import { button, heading, hold, phone, press, pressKey, standingAt, useDrivers } from './drive-phones.ts';

describe("the layout of the driver's page", () => {
  const { api, partner, phoneOf, online, openRide, offers, choose } = useDrivers();

  const phones = [
    [740, 360],
    [568, 320],
    [360, 740],
    [320, 480],
  ] as const;

  /** Throws if an element is not entirely in the visible part of the page, or smaller than a finger. */
  async function expectInReach(page: Page, target: Locator): Promise<void> {
    await target.waitFor();
    const { x = -1, y = -1, width = 0, height = 0 } = (await target.boundingBox()) ?? {};
    const { width: screenWidth = 0, height: screenHeight = 0 } = page.viewportSize() ?? {};
    const box = { x, y, right: screenWidth - x - width, bottom: screenHeight - y - height };
    for (const [side, space] of Object.entries(box)) expect(space, `${target} ${side}`).to.be.at.least(0);
    expect(Math.min(width, height), `${target}`).to.be.at.least(44);
  }

  /** Checks a state of the page on each screen. The `targets` must be in reach on phones of each size and position. */
  async function look(name: string, shown: TestPage, ...targets: Locator[]): Promise<void> {
    for (const [width, height] of targets.length > 0 ? phones : []) {
      await shown.setViewportSize({ width, height });
      for (const target of targets) await expectInReach(shown, target);
      await expectNotTooWide(shown);
    }
    await lookAround(`drive-${name}`, shown);
  }

  it('in every state, the page passes its checks, and the next action is in reach on phones of each size', async () => {
    const place = somewhere();
    const { page, profile } = await phoneOf(await newGatewayDriver(api), standingAt(place));
    const buttons = (...names: (string | RegExp)[]) => names.map((name) => button(page, name));
    const wrong = await openPage(await openProfile(phone), `${api.url}/drive?wrong`);
    await look('sign-in', wrong, button(wrong, 'Sign in'));
    await look('offline', page, ...buttons('Go online'));
    await press(page, 'Go online');
    await look('waiting', page, ...buttons('Go offline'));

    const rideId = await openRide(place);
    await look('request', page, ...buttons(/^Accept/, 'Counter', 'Decline'));
    await press(page, 'Counter');
    await press(page, 'Higher price');
    await press(page, 'More minutes');
    await look('counter', page, ...buttons('Higher price', 'More minutes', 'Back', /^Offer/));
    await press(page, 'Offer $27.50 there in 2 min');
    await look('offered', page, ...buttons('Withdraw'));
    await offers(rideId, 1);
    const other = await openRide(place, { fare: 1_240, rideType: 'intercity', distanceKm: 412.7 });
    await heading(page, '2 requests');
    await look('requests', page);
    await press(page, /^Accept/);
    await offers(other, 1);
    await partner.post(`/rides/${other}/cancel`);
    await page.locator('.request', { hasText: 'The partner cancelled' }).scrollIntoViewIfNeeded();
    await look('gone', page);
    await press(page, 'OK');
    await press(page, 'Go offline');
    await look('offline-offer', page, ...buttons('Go online', 'Withdraw'));

    await choose(rideId);
    const links = ['Open in maps', 'Call'].map((name) => page.getByRole('link', { name }));
    await look('arriving', page, ...links, ...buttons('Arrived', 'Cancel ride'));
    await pressKey(page, 'Cancel ride');
    await heading(page, 'Cancel this ride?');
    await look('cancel', page);
    await press(page, 'Keep the ride');
    await profile.setOffline(true);
    await press(page, 'Arrived');
    await page.getByText('Sent later: Arrived').waitFor();
    // Chromium logs the broken stream on the console.
    page.complaints.length = 0;
    await look('tunnel', page, ...buttons('Start trip'));
    await press(page, 'Start trip');
    await look('trip', page, ...buttons('Complete'));
    await hold(page, 'Complete');
    await look('completed', page, ...buttons('Continue'));
  });

  for (const language of ['de', 'ar']) {
    it(`in the language ${language}, each screen passes its checks, with the next action in reach`, async () => {
      const place = somewhere();
      const driver = await newGatewayDriver(api);
      const plain = await openPage(await openProfile(phone), `${api.url}/drive?lang=${language}`);
      await look(`${language}-sign-in`, plain, plain.locator('[type="submit"]'));
      const { page } = await phoneOf(driver, standingAt(place));
      await page.goto(`${api.url}/drive?lang=${language}`);
      const lookAt = (name: string, ...targets: string[]) =>
        look(`${language}-${name}`, page, ...targets.map((target) => page.locator(target)));
      await lookAt('offline', '#go-online');
      await page.locator('#go-online').click();
      await lookAt('waiting', '#go-offline');
      const rideId = await openRide(place);
      await lookAt('request', '[data-part="accept"]', '[data-part="counter"]', '[data-part="decline"]');
      await page.locator('[data-part="accept"]').click();
      await offers(rideId, 1);
      await lookAt('offered', '[data-part="withdraw"]');
      await choose(rideId);
      await lookAt('arriving', '#maps', '#call', '#cancel', '#step');
    });
  }

  it('a request keeps its size when its actions change, so the next one does not move', async () => {
    const place = somewhere();
    const { page } = await online(place);
    await openRide(place);
    const heightOf = async () => (await page.locator('.request').boundingBox())?.height;
    await button(page, /^Accept/).waitFor();
    const before = await heightOf();
    await press(page, 'Counter');
    expect(await heightOf()).to.equal(before);
    await press(page, /^Offer/);
    await button(page, 'Withdraw').waitFor();
    expect(await heightOf()).to.equal(before);
  });
});

describe("the map of the driver's page", () => {
  const file = useStarted(async () => ({ path: await streetTiles(), close: () => undefined }));
  const { chosen } = useDrivers(() => ({ TILE_URL: file.path }));

  it('shows the ride and the driver on streets, and lets a finger scroll the page', async () => {
    const { page } = await chosen({ lat: 57.7005, lng: 11.9526 });
    await page.locator('#trip-map .car').waitFor();
    await page.locator('#trip-map canvas.leaflet-tile-loaded').first().waitFor();
    expect(await page.locator('#trip-map .leaflet-control-attribution a').count()).to.equal(1);
    const touched = await page.locator('#trip-map > section').evaluate((map) => getComputedStyle(map).pointerEvents);
    expect(touched).to.equal('none');
    await page.locator('#trip-map').scrollIntoViewIfNeeded();
    await lookAround('drive-map', page);
    expect(page.complaints).to.deep.equal([]);
  });
});
