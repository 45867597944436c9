import path from 'node:path';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { newGatewayDriver, somewhere } from '../support/drivers.ts';
import { expectNotTooWide, lookAround, openPage, openProfile, seriousFindings, shotFolder } from './browser.ts';
import { button, heading, hold, phone, press, pressKey, standingAt, useDrivers } from './drive-phones.ts';

describe("the layout of the driver's page", () => {
  const { api, partner, phoneOf, online, openRide, offers, choose } = useDrivers();

  /** Throws if an element is not entirely in the visible part of the page, or smaller than a finger. */
  async function expectInReach(page: Page, target: Locator): Promise<void> {
    await target.waitFor();
    const { x = -1, y = -1, width = 0, height = 0 } = (await target.boundingBox()) ?? {};
    const { width: screenWidth = 0, height: screenHeight = 0 } = page.viewportSize() ?? {};
    const box = { x, y, right: screenWidth - x - width, bottom: screenHeight - y - height };
    for (const [side, space] of Object.entries(box)) expect(space, `${target} ${side}`).to.be.at.least(0);
    expect(Math.min(width, height), `${target}`).to.be.at.least(44);
  }

  it('the page passes layout and accessibility checks in every state', async () => {
    const place = somewhere();
    const signInPage = await openPage(await openProfile(phone), `${api.url}/drive?wrong`);
    await lookAround('drive-sign-in', signInPage);

    const driver = await newGatewayDriver(api);
    const { page, profile } = await phoneOf(driver, standingAt(place));
    await heading(page, 'You are offline');
    await lookAround('drive-offline', page);
    await press(page, 'Go online');
    await heading(page, 'Waiting for requests');
    await lookAround('drive-waiting', page);

    const rideId = await openRide(place);
    await heading(page, '1 request');
    await lookAround('drive-request', page);
    await press(page, 'Counter');
    await press(page, 'Higher price');
    await press(page, 'More minutes');
    await lookAround('drive-counter', page);
    await press(page, 'Offer $27.50 there in 2 min');
    await page.getByText('Your offer: $27.50').waitFor();
    const other = await openRide(place, { fare: 1_240, rideType: 'intercity', distanceKm: 412.7 });
    await heading(page, '2 requests');
    await lookAround('drive-requests', page);
    await press(page, /^Accept/);
    await offers(other, 1);
    await partner.post(`/rides/${other}/cancel`);
    await page.locator('.request', { hasText: 'The partner cancelled' }).scrollIntoViewIfNeeded();
    await lookAround('drive-gone', page);

    await choose(rideId);
    await heading(page, 'Drive to the pickup');
    await lookAround('drive-ride', page);
    await pressKey(page, 'Cancel ride');
    await heading(page, 'Cancel this ride?');
    await lookAround('drive-cancel', page);
    await press(page, 'Keep the ride');

    await profile.setOffline(true);
    await press(page, 'Arrived');
    await page.getByText('Sent later: Arrived').waitFor();
    // Chromium logs the broken stream on the console.
    page.complaints.length = 0;
    await lookAround('drive-tunnel', page);
    await press(page, 'Start trip');
    await hold(page, 'Complete');
    await heading(page, 'Trip completed');
    await lookAround('drive-completed', page);
  });

  it('every next action is in reach on phones of each size and position', async () => {
    const place = somewhere();
    const driver = await newGatewayDriver(api);
    const { page } = await phoneOf(driver, standingAt(place));
    const wrong = await openPage(await openProfile(phone), `${api.url}/drive?wrong`);
    /** Checks one state of a page on each screen. The smallest one comes last, and axe runs there. */
    async function look(name: string, shown: Page, ...targets: Locator[]): Promise<void> {
      for (const [width, height] of [
        [740, 360],
        [568, 320],
        [360, 740],
        [320, 480],
      ] as const) {
        await shown.setViewportSize({ width, height });
        for (const target of targets) await expectInReach(shown, target);
        await shown.screenshot({ path: path.join(shotFolder, `drive-${name}-${width}x${height}.png`) });
        await expectNotTooWide(shown);
      }
      expect(await seriousFindings(shown), name).to.deep.equal([]);
    }
    const buttons = (...names: (string | RegExp)[]) => names.map((name) => button(page, name));
    await look('wrong', wrong, button(wrong, 'Sign in'));
    await look('offline', page, ...buttons('Go online'));
    await press(page, 'Go online');
    await look('waiting', page, ...buttons('Go offline'));

    const rideId = await openRide(place);
    await look('request', page, ...buttons(/^Accept/, 'Counter', 'Decline'));
    await press(page, 'Counter');
    await look('counter', page, ...buttons('Higher price', 'More minutes', 'Back', /^Offer/));
    await press(page, /^Offer/);
    await look('offered', page, ...buttons('Withdraw'));
    await offers(rideId, 1);
    await press(page, 'Go offline');
    await look('offline-offer', page, ...buttons('Go online', 'Withdraw'));
    await choose(rideId);
    const links = ['Open in maps', 'Call'].map((name) => page.getByRole('link', { name }));
    await look('arriving', page, ...links, ...buttons('Arrived', 'Cancel ride'));
    await press(page, 'Arrived');
    await look('arrived', page, ...buttons('Start trip'));
    await press(page, 'Start trip');
    await look('trip', page, ...buttons('Complete'));
    await hold(page, 'Complete');
    await look('completed', page, ...buttons('Continue'));
    expect(page.complaints).to.deep.equal([]);
  });

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
