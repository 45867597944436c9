import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { somewhere } from '../support/drivers.ts';
import { until } from '../support/until.ts';
import { setHidden } from './browser.ts';
import { button, heading, hold, press, pressKey, useDrivers } from './drive-phones.ts';

describe("requests and steps on the driver's page", () => {
  const { partner, online, openRide, rideNow, status, offers, choose, chosen } = useDrivers();

  async function startTrip(page: Page): Promise<void> {
    await press(page, 'Arrived');
    await heading(page, 'Wait for the passenger');
    await press(page, 'Start trip');
    await heading(page, 'Drive to the destination');
  }

  it('a request shows distance and direction from where the driver is now', async () => {
    const place = somewhere();
    const { page, profile } = await online({ lat: place.lat - 0.01, lng: place.lng });
    await openRide(place);
    const figures = page.locator('.request .terms > div');
    const pickup = figures.nth(0);
    await pickup.filter({ hasText: /To pickup\s*1\.1 km\s*north$/ }).waitFor();
    expect((await figures.nth(1).innerText()).replace(/\s+/g, ' ').trim()).to.equal('Trip 5.6 km north');
    await profile.setGeolocation({ latitude: place.lat, longitude: place.lng + 0.02 });
    await pickup.filter({ hasText: /west$/ }).waitFor();
    expect(await page.content()).not.to.include('Main Street');
  });

  it('a declined request can be kept, and otherwise leaves the page and the list of the driver', async () => {
    const place = somewhere();
    const { page, get } = await online(place);
    await openRide(place);
    await press(page, 'Decline');
    await page.getByText('Declined', { exact: true }).waitFor();
    await press(page, 'Undo');
    await button(page, /^Accept/).waitFor();
    await press(page, 'Decline');
    await heading(page, 'Waiting for requests');
    await until(async () => (await get('/requests')).body.requests.length === 0);
    await until(async () => (await page.evaluate(() => localStorage.length)) === 0);
    expect(page.complaints).to.deep.equal([]);
  });

  it('completes a trip when the button is held, not tapped, and then shows the earnings of the day', async () => {
    const { page, rideId } = await chosen(somewhere());
    await startTrip(page);
    await press(page, 'Complete');
    await page.locator('#step-hint', { hasText: 'Hold longer' }).waitFor();
    expect(await page.locator('dialog[open]').count()).to.equal(0);
    await status(rideId, 'in_progress');
    await hold(page, 'Complete');
    await heading(page, 'Trip completed');
    await page.locator('#result-amount', { hasText: '$25.00' }).waitFor();
    expect(await page.content()).not.to.match(/Main Street|Byron|555-0111|suitcases/);
    await status(rideId, 'completed');
    await press(page, 'Continue');
    await heading(page, 'Waiting for requests');
    await page.locator('#today-earned', { hasText: '$25.00' }).waitFor();
    expect(await page.locator('#today-trips').textContent()).to.equal('1');
    expect(await page.locator('#last-price').textContent()).to.equal('$25.00');
    expect(await page.locator('#last-at').textContent()).to.match(/^\d{1,2}:\d\d\s[AP]M$/);
    expect(await page.locator('#connection').textContent()).to.equal('Good');
    await page.locator('#position-sent', { hasText: /^Position: (now|\d+ s ago)$/ }).waitFor();
  });

  it('a driver who waits past midnight sees the earnings of the new day', async () => {
    const { page } = await online(somewhere());
    const periods: number[] = [];
    page.on('request', (request) => {
      const since = new URL(request.url()).searchParams.get('since');
      if (since) periods.push(Number(since));
    });
    await page.locator('#today-earned', { hasText: '$0.00' }).waitFor();
    let days = 0;
    await until(async () => {
      // Again and again, because each answer of the service corrects the page's clock.
      days += 1;
      await page.clock.setSystemTime(Date.now() + days * 24 * 3_600_000);
      return periods.some((since) => since > Date.now());
    });
  });

  it('a message is marked as seen when the driver looks at the page', async () => {
    const { page, rideId } = await chosen(somewhere());
    const seenAt = async () => (await rideNow(rideId)).messages?.[0].seenAt;
    await setHidden(page, true);
    await partner.post(`/rides/${rideId}/messages`, { text: 'Side entrance' });
    await page.getByText('Side entrance', { exact: true }).waitFor();
    expect(await seenAt()).to.equal(undefined);
    await setHidden(page, false);
    await until(async () => (await seenAt()) !== undefined);
  });

  it('cancels a ride when the button is held, but not when it is tapped', async () => {
    const { page, rideId } = await chosen(somewhere());
    await press(page, 'Cancel ride');
    await page.locator('#cancel-hint', { hasText: 'Hold longer' }).waitFor();
    expect((await rideNow(rideId)).status).to.equal('driver_arriving');
    await hold(page, 'Cancel ride');
    await heading(page, 'You cancelled the ride');
    await status(rideId, 'cancelled');
  });

  it('a ride is cancelled only after confirmation, for which the keyboard suffices', async () => {
    const { page, rideId } = await chosen(somewhere());
    const { keyboard } = page;
    await pressKey(page, 'Cancel ride');
    await heading(page, 'Cancel this ride?');
    await keyboard.press('Escape');
    expect(await page.locator('#cancel-dialog').isVisible()).to.equal(false);
    await pressKey(page, 'Cancel ride');
    await keyboard.press('Tab');
    await keyboard.press('Enter');
    await heading(page, 'You cancelled the ride');
    await status(rideId, 'cancelled');
    expect(await rideNow(rideId)).to.include({ cancelledBy: 'driver' });
  });

  it('accepts, drives and completes a ride with only the keyboard', async () => {
    const place = somewhere();
    const { page } = await online(place);
    const rideId = await openRide(place);
    await page.locator('.fare', { hasText: '$25.00' }).waitFor();
    await pressKey(page, 'Accept');
    await offers(rideId, 1);
    await choose(rideId);
    await heading(page, 'Drive to the pickup');
    expect(await page.evaluate(() => document.activeElement?.id)).to.equal('ride-title');
    for (const next of ['Read messages aloud', 'Open in maps']) {
      await page.keyboard.press('Tab');
      expect(await page.evaluate(() => document.activeElement?.textContent)).to.equal(next);
    }
    await pressKey(page, 'Arrived');
    await pressKey(page, 'Start trip');
    await pressKey(page, 'Complete');
    await heading(page, 'Complete this trip?');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await heading(page, 'Trip completed');
    await status(rideId, 'completed');
  });

  it('a driver accepts, drives and completes a ride with five touches, without scrolling', async () => {
    const place = somewhere();
    const { page, profile } = await online(place);
    const rideId = await openRide(place);
    const session = await profile.newCDPSession(page);
    let touches = 0;
    /** Touches the middle of a button until `isDone`. */
    async function touch(name: string | RegExp, isDone: () => Promise<unknown>): Promise<void> {
      await until(() => button(page, name).isEnabled());
      const { x = 0, y = 0, width = 0, height = 0 } = (await button(page, name).boundingBox()) ?? {};
      const touchPoints = [{ x: x + width / 2, y: y + height / 2 }];
      await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints });
      if (name === 'Complete') await isDone();
      await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
      await isDone();
      touches += 1;
    }
    await touch(/^Accept/, () => offers(rideId, 1));
    await choose(rideId);
    await touch('Arrived', () => heading(page, 'Wait for the passenger'));
    await touch('Start trip', () => heading(page, 'Drive to the destination'));
    await touch('Complete', () => heading(page, 'Trip completed'));
    await touch('Continue', () => heading(page, 'Waiting for requests'));
    await status(rideId, 'completed');
    expect(touches).to.equal(5);
    expect(page.complaints).to.deep.equal([]);
  });

  it('each step begins at the top of the page, and is reported to screen readers', async () => {
    const { page } = await chosen(somewhere(), { notes: 'Ring twice. '.repeat(16) });
    await page.setViewportSize({ width: 360, height: 480 });
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    expect(await page.evaluate(() => scrollY)).to.be.above(0);
    await press(page, 'Arrived');
    await heading(page, 'Wait for the passenger');
    expect(await page.evaluate(() => scrollY)).to.equal(0);
    expect(await page.getByRole('status').textContent()).to.equal('Wait for the passenger');
  });
});
