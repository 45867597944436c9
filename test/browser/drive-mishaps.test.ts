import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { readPosition } from '../../shared/drivers/positions.ts';
import { somewhere } from '../support/drivers.ts';
import { until } from '../support/until.ts';
import { openPage } from './browser.ts';
import { button, heading, press, useDrivers } from './drive-phones.ts';

describe("mishaps on the driver's page", () => {
  const { online, openRide, rideNow, status, offers, chosen } = useDrivers();

  const storedActions = (page: Page) => page.evaluate(() => localStorage.length);

  async function driving() {
    const driver = await chosen(somewhere());
    await press(driver.page, 'Arrived');
    await press(driver.page, 'Start trip');
    await heading(driver.page, 'Drive to the destination');
    await until(() => button(driver.page, 'Complete').isEnabled());
    return driver;
  }

  it('two fingers that tap "Complete" do not complete the trip', async () => {
    const { page, profile, rideId } = await driving();
    const { x = 0, y = 0, width = 0, height = 0 } = (await button(page, 'Complete').boundingBox()) ?? {};
    const [left, right] = [1, 2].map((part) => ({ x: x + (width * part) / 3, y: y + height / 2, id: part }));
    const session = await profile.newCDPSession(page);
    const touch = (type: 'touchStart' | 'touchEnd', ...touchPoints: (typeof left)[]) =>
      session.send('Input.dispatchTouchEvent', { type, touchPoints: touchPoints.flatMap((point) => point ?? []) });
    await page.clock.install();
    await touch('touchStart', left);
    await touch('touchStart', left, right);
    await touch('touchEnd');
    await page.clock.fastForward(5_000);
    await page.locator('#step-hint', { hasText: 'Hold longer' }).waitFor();
    expect(await page.locator('#ride-title').textContent()).to.equal('Drive to the destination');
    expect((await rideNow(rideId)).status).to.equal('in_progress');
  });

  it('a phone that blocks the position reports none, and reports again once it allows the position', async () => {
    const place = somewhere();
    const { page, profile, driverId } = await online(place);
    const moveTo = (lat: number) => profile.setGeolocation({ latitude: lat, longitude: place.lng });
    const reported = async () => (await readPosition(driverId))?.lat;
    await moveTo(place.lat + 0.001);
    await until(async () => (await reported()) === place.lat + 0.001);
    await profile.clearPermissions();
    await page.locator('#bar', { hasText: 'Your position is blocked' }).waitFor();
    const reports: string[] = [];
    page.on('request', (request) => request.url().endsWith('/me/position') && reports.push(request.url()));
    await page.clock.install();
    await page.clock.fastForward(30_000);
    expect(reports).to.deep.equal([]);
    await profile.grantPermissions(['geolocation']);
    await moveTo(place.lat + 0.002);
    await until(async () => (await reported()) === place.lat + 0.002);
    await page.locator('#bar', { hasText: 'Your position is blocked' }).waitFor({ state: 'detached' });
  });

  it('a key that is kept down makes one step', async () => {
    const { page, rideId } = await chosen(somewhere());
    await until(() => button(page, 'Arrived').isEnabled());
    await button(page, 'Arrived').focus();
    await page.keyboard.down('Enter');
    await until(() => button(page, 'Start trip').isEnabled());
    await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    await heading(page, 'Wait for the passenger');
    await status(rideId, 'arrived');
    expect(await page.locator('#step-text').textContent()).to.equal('Start trip');
  });

  for (const [reader, pointer] of [
    ['VoiceOver', { width: 0, height: 0, pressure: 0, pointerType: 'touch' }],
    ['TalkBack', { width: 1, height: 1, pressure: 0, pointerType: 'mouse' }],
  ] as const) {
    it(`a press by ${reader} asks for confirmation instead of holding`, async () => {
      const { page } = await driving();
      await button(page, 'Complete').evaluate((target, init) => {
        for (const type of ['pointerdown', 'pointerup']) {
          target.dispatchEvent(new PointerEvent(type, { ...init, bubbles: true }));
        }
        target.dispatchEvent(new MouseEvent('click', { detail: 1, bubbles: true }));
      }, pointer);
      await heading(page, 'Complete this trip?');
    });
  }

  for (const [name, leave] of [
    ['goes offline', (page: Page) => press(page, 'Go offline')],
    ['loads the page again', (page: Page) => page.reload()],
  ] as const) {
    it(`a request stays declined if the driver ${name} at once`, async () => {
      const place = somewhere();
      const { page, get } = await online(place);
      await openRide(place);
      await press(page, 'Decline');
      await button(page, 'Undo').waitFor();
      await leave(page);
      await until(async () => (await get('/requests')).body.requests.length === 0);
      await until(async () => (await storedActions(page)) === 0);
    });
  }

  it('a "Go offline" without an answer is not sent again after "Go online"', async () => {
    const { page } = await online(somewhere());
    const answers: (() => Promise<void>)[] = [];
    await page.route('**/drive/api/me/offline', (route) => {
      answers.push(() => route.abort());
    });
    const asked = page.waitForRequest('**/drive/api/me/offline');
    await press(page, 'Go offline');
    await asked;
    await press(page, 'Go online');
    await heading(page, 'Waiting for requests');
    expect(await storedActions(page)).to.equal(0);
    await answers[0]?.();
  });

  it('a driver who goes offline in one tab is offline in another tab too', async () => {
    const { page, profile } = await online(somewhere());
    const other = await openPage(profile, page.url());
    await heading(other, 'Waiting for requests');
    await press(page, 'Go offline');
    await heading(other, 'You are offline');
  });

  it('a "Go online" without an answer leaves the driver offline, also for the service', async () => {
    const { page, get } = await online(somewhere());
    await press(page, 'Go offline');
    await heading(page, 'You are offline');
    await until(async () => (await storedActions(page)) === 0);
    await page.route('**/drive/api/me/online', async (route) => {
      await route.fetch({ headers: { ...route.request().headers(), 'sec-fetch-site': 'same-origin' } });
      await route.abort();
    });
    const sent = page.waitForResponse('**/drive/api/me/offline');
    await press(page, 'Go online');
    await page.locator('#bar', { hasText: 'The service cannot be reached' }).waitFor();
    await sent;
    expect((await get('/me')).body.available).to.equal(false);
  });

  it('"Withdraw" also withdraws an offer that the service accepted, but whose answer was lost', async () => {
    const place = somewhere();
    const { page, profile, post } = await online(place);
    const rideId = await openRide(place);
    await page.route(
      '**/offers',
      async (route) => {
        await profile.setOffline(true);
        await post(`/requests/${rideId}/offers`, route.request().postDataJSON());
        await route.abort();
      },
      { times: 1 },
    );
    await press(page, /^Accept/);
    await offers(rideId, 1);
    await page.getByText('No connection. Sent later: Offer $25.00').waitFor();
    await press(page, 'Withdraw');
    await page.getByText('Withdrawing: $25.00').waitFor();
    await profile.setOffline(false);
    await offers(rideId, 0);
    await button(page, /^Accept/).waitFor();
  });

  it('an offer whose answer was lost twice stays in the list until the service has answered', async () => {
    const place = somewhere();
    const { page, post } = await online(place);
    const rideId = await openRide(place);
    await page.route(
      '**/offers',
      async (route) => {
        await post(`/requests/${rideId}/offers`, route.request().postDataJSON());
        await route.abort();
      },
      { times: 1 },
    );
    await page.route('**/drive/api/requests', (route) => route.abort(), { times: 1 });
    const asked = page.waitForRequest('**/drive/api/requests');
    await press(page, /^Accept/);
    await press(page, 'Withdraw');
    await asked;
    await offers(rideId, 0);
    await until(async () => (await storedActions(page)) === 0);
  });
});
