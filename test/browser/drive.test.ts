import { expect } from 'chai';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { LimitModel } from '../../shared/accounts/limit.ts';
import type { Point } from '../../shared/base/great-circle.ts';
import { driverSessions, hashOfDriverKey } from '../../shared/drivers/driver.ts';
import { suspendDriver } from '../../shared/drivers/manage-drivers.ts';
import type { Answer, Client } from '../support/client.ts';
import { type GatewayDriver, newGatewayDriver, runDispatch, somewhere } from '../support/drivers.ts';
import { useTestApi } from '../support/service.ts';
import { until } from '../support/until.ts';
import { closeProfiles, lookAround, openPage, openProfile, seriousFindings } from './browser.ts';

const phone = { viewport: { width: 360, height: 740 }, hasTouch: true };

describe("the driver's page", () => {
  const api = useTestApi();
  let partner: Client;
  before(async () => {
    partner = await api.partner('live');
    await LimitModel.deleteMany({});
  });
  afterEach(closeProfiles);

  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
  const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true }).waitFor();
  const press = (page: Page, name: string | RegExp) => button(page, name).click();

  async function signIn(page: Page, key: string): Promise<void> {
    await page.getByLabel('Driver key').fill(key);
    await press(page, 'Sign in');
  }
  /** The browser options of a phone at a place. */
  const standingAt = ({ lat, lng }: Point) => ({
    ...phone,
    geolocation: { latitude: lat, longitude: lng },
    permissions: ['geolocation'],
  });
  /** A driver's phone, signed in. */
  async function phoneOf({ driverId, key }: GatewayDriver, options: BrowserContextOptions) {
    const profile = await openProfile(options);
    const owner = { driverId, keyHash: hashOfDriverKey(key) ?? '' };
    const value = await driverSessions.start(owner, api.ctx.now());
    await profile.addCookies([{ name: 'driver_session', value, url: api.url }]);
    return { profile, page: await openPage(profile, `${api.url}/drive`) };
  }
  /** A driver who is online on a phone. */
  async function online(at: Point) {
    const driver = await newGatewayDriver(api, { at });
    return { ...driver, ...(await phoneOf(driver, standingAt(at))) };
  }
  const wanted = {
    passenger: { name: 'Ada Byron', phone: '+1 (202) 555-0111' },
    notes: 'Two suitcases, please wait at the side door.',
    passengerCount: 2,
  };
  async function openRide(pickup: Point, fields: object = {}): Promise<string> {
    const place = { ...pickup, address: '1 Main Street, side entrance' };
    const { body } = await partner.createRide({
      pickup: place,
      destination: { lat: pickup.lat + 0.05, lng: pickup.lng },
      ...wanted,
      ...fields,
    });
    await runDispatch(api.ctx, body.rideId);
    return body.rideId;
  }
  const rideNow = async (rideId: string): Promise<Answer['body']> => (await partner.get(`/rides/${rideId}`)).body;
  const offersOn = async (rideId: string): Promise<Answer['body'][]> =>
    (await partner.get(`/rides/${rideId}/offers`)).body.offers;
  const status = (rideId: string, wantedStatus: string) =>
    until(async () => (await rideNow(rideId)).status === wantedStatus);
  const offers = (rideId: string, count: number) => until(async () => (await offersOn(rideId)).length === count);

  /** A driver who signs in with the key and goes online. */
  async function entering(at: Point) {
    const { key } = await newGatewayDriver(api);
    const profile = await openProfile(standingAt(at));
    const page = await openPage(profile, `${api.url}/drive`);
    await signIn(page, key);
    await press(page, 'Go online');
    await heading(page, 'Waiting for requests');
    return { profile, page };
  }

  it('the page shows a raised fare, which Accept and a new counter-offer use', async () => {
    const place = somewhere();
    const { page } = await online(place);
    const rideId = await openRide(place);
    await page.locator('.fare', { hasText: '$25.00' }).waitFor();
    await press(page, 'Counter');
    await press(page, 'Higher price');
    await partner.post(`/rides/${rideId}/fare`, { fare: 27.5 });
    await page.locator('.fare', { hasText: '$27.50' }).waitFor();
    await button(page, 'Offer $27.50, in 1 min').waitFor();
    await press(page, /^Accept \$27\.50/);
    await offers(rideId, 1);
    expect((await offersOn(rideId))[0].price).to.equal(27.5);
  });

  it('two drivers bid on a live ride: a counter-offer wins, and the other driver is notified', async () => {
    const place = somewhere();
    const [dana, omar] = [await entering(place), await online(place)];
    const rideId = await openRide(place);
    for (const { page } of [dana, omar]) {
      await page.locator('.fare', { hasText: '$25.00' }).waitFor();
      expect(await page.locator('.card').innerText()).to.match(/\d:\d\d/);
      expect(await page.content()).not.to.match(/Main Street|Byron|555-0111|suitcases/);
    }
    await press(omar.page, /^Accept \$25\.00/);
    await press(dana.page, 'Counter');
    await press(dana.page, 'Higher price');
    await press(dana.page, 'Higher price');
    await press(dana.page, 'More minutes');
    await press(dana.page, 'Offer $27.00, in 2 min');
    await offers(rideId, 2);
    await dana.page.getByText('Your offer: $27.00, in 2 min').waitFor();

    const { offerId } = (await offersOn(rideId)).find(({ price }) => price === 27);
    await partner.post(`/rides/${rideId}/accept`, { offerId });
    await omar.page.locator('.card', { hasText: 'The ride went to another driver' }).waitFor();
    expect(await omar.page.getByRole('status').textContent()).to.equal('The ride went to another driver');
    await press(omar.page, 'OK');
    await heading(omar.page, 'Waiting for requests');

    const { page } = dana;
    await heading(page, 'Drive to the pickup');
    await page.getByText('You were chosen', { exact: true }).waitFor();
    await page.getByText('1 Main Street, side entrance').waitFor();
    await page.getByText('Two suitcases').waitFor();
    expect(await page.getByRole('link', { name: /^Call/ }).getAttribute('href')).to.equal('tel:+12025550111');
    expect(await page.getByRole('link', { name: 'Open in maps' }).first().getAttribute('href')).to.equal(
      `geo:${place.lat},${place.lng}?q=${place.lat},${place.lng}`,
    );
    expect(await seriousFindings(page)).to.deep.equal([]);
    await dana.profile.setGeolocation({ latitude: place.lat + 0.001, longitude: place.lng });
    await until(async () => (await rideNow(rideId)).liveLocation?.lat === place.lat + 0.001);
    await press(page, 'Arrived');
    await heading(page, 'Wait for the passenger');
    await press(page, 'Start trip');
    await heading(page, 'Drive to the destination');
    await status(rideId, 'in_progress');
    await press(page, 'Complete');
    await heading(page, 'Trip completed');
    await page.getByText('$27.00 for this ride.').waitFor();
    await status(rideId, 'completed');
    expect(await page.content()).not.to.match(/Main Street|Byron|555-0111|suitcases/);
    await press(page, 'OK');
    await heading(page, 'Waiting for requests');
    for (const each of [dana, omar]) expect(each.page.complaints).to.deep.equal([]);
  });

  it("the page withdraws an offer, and shows the partner's cancellation, whether before or after the accept", async () => {
    const place = somewhere();
    const { page } = await online(place);
    const withdrawn = await openRide(place);
    await press(page, /^Accept/);
    await offers(withdrawn, 1);
    await press(page, 'Withdraw');
    await offers(withdrawn, 0);
    await button(page, /^Accept/).waitFor();
    await press(page, /^Accept/);
    await offers(withdrawn, 1);
    await partner.post(`/rides/${withdrawn}/cancel`);
    await page.locator('.card', { hasText: 'The partner cancelled' }).waitFor();
    await press(page, 'OK');

    const rideId = await openRide(place);
    await press(page, /^Accept/);
    await offers(rideId, 1);
    await partner.post(`/rides/${rideId}/accept`, { offerId: (await offersOn(rideId))[0].offerId });
    await heading(page, 'Drive to the pickup');
    await partner.post(`/rides/${rideId}/cancel`);
    await heading(page, 'The partner cancelled');
    await press(page, 'OK');
    await heading(page, 'Waiting for requests');
    expect(page.complaints).to.deep.equal([]);
  });

  /** A driver who has been chosen. */
  async function chosen(place: Point) {
    const driver = await online(place);
    const rideId = await openRide(place);
    await press(driver.page, /^Accept/);
    await offers(rideId, 1);
    await partner.post(`/rides/${rideId}/accept`, { offerId: (await offersOn(rideId))[0].offerId });
    await heading(driver.page, 'Drive to the pickup');
    return { ...driver, rideId };
  }
  /** Collects the steps that the page sends, with the status of their answers. */
  function stepsSent(profile: BrowserContext): string[] {
    const sent: string[] = [];
    profile.on('response', (response) => {
      const [, step] = /\/drive\/api\/ride\/(\w+)$/.exec(response.url()) ?? [];
      if (step) sent.push(`${step} ${response.status()}`);
    });
    return sent;
  }

  it('the page stores steps while offline and says so; back online, it sends each step once and in order', async () => {
    const { page, profile, rideId } = await chosen(somewhere());
    const sent = stepsSent(profile);
    await profile.setOffline(true);
    await page.getByText('No connection. Your actions are kept and sent later.').waitFor();
    await press(page, 'Arrived');
    await heading(page, 'Wait for the passenger');
    await press(page, 'Start trip');
    await heading(page, 'Drive to the destination');
    await page.getByText('No connection. Kept and sent later: Arrived, Start trip').waitFor();
    const kept = await page.evaluate(() => JSON.stringify(localStorage));
    expect(kept).to.include('arrive').and.include('start');
    expect(kept).not.to.match(/Ada|Byron|0111|suitcases|Main/);
    expect((await rideNow(rideId)).status).to.equal('driver_arriving');
    await profile.setOffline(false);
    await status(rideId, 'in_progress');
    await page.getByText('Connected', { exact: true }).waitFor();
    await heading(page, 'Drive to the destination');
    expect(sent).to.deep.equal(['arrive 200', 'start 200']);
    expect(await page.evaluate(() => localStorage.length)).to.equal(0);
  });

  it('a step whose answer was lost is repeated, also after the page was closed, with one effect', async () => {
    const { page, profile, rideId } = await chosen(somewhere());
    // The service accepts the step, but its answer never arrives.
    await page.route('**/drive/api/ride/arrive', async (route) => {
      // The browser adds this header after the point where a test can see it.
      await route.fetch({ headers: { ...route.request().headers(), 'sec-fetch-site': 'same-origin' } });
      await route.abort();
    });
    await press(page, 'Arrived');
    await status(rideId, 'arrived');
    await page.getByText('Sending: Arrived').waitFor();
    await page.close();
    const sent = stepsSent(profile);
    const again = await openPage(profile, `${api.url}/drive`);
    await heading(again, 'Wait for the passenger');
    await until(async () => sent.length > 0);
    await until(async () => (await again.evaluate(() => localStorage.length)) === 0);
    expect(sent).to.deep.equal(['arrive 200']);
    expect((await rideNow(rideId)).status).to.equal('arrived');
    expect(again.complaints).to.deep.equal([]);
  });

  it('a driver whose network is back sees that the ride was cancelled in the meantime', async () => {
    const { page, profile, rideId } = await chosen(somewhere());
    await profile.setOffline(true);
    await press(page, 'Arrived');
    await heading(page, 'Wait for the passenger');
    await partner.post(`/rides/${rideId}/cancel`);
    await profile.setOffline(false);
    await heading(page, 'The partner cancelled');
    await until(async () => (await page.evaluate(() => localStorage.length)) === 0);
  });

  it('a ride is cancelled only after confirmation, for which the keyboard suffices', async () => {
    const { page, rideId } = await chosen(somewhere());
    const { keyboard } = page;
    // A button that has just appeared ignores taps for a moment.
    await until(() => button(page, 'Cancel ride').isEnabled());
    await button(page, 'Cancel ride').focus();
    await keyboard.press('Enter');
    await heading(page, 'Cancel this ride?');
    await keyboard.press('Escape');
    expect(await page.locator('dialog').isVisible()).to.equal(false);
    await button(page, 'Cancel ride').focus();
    await keyboard.press('Enter');
    await keyboard.press('Tab');
    await keyboard.press('Enter');
    await heading(page, 'You cancelled the ride');
    await status(rideId, 'cancelled');
    expect(await rideNow(rideId)).to.include({ cancelledBy: 'driver' });
  });

  it('the sign-in page is shown as soon as the driver is suspended', async () => {
    const { page, driverId } = await online(somewhere());
    await heading(page, 'Waiting for requests');
    await suspendDriver(driverId);
    await page.getByLabel('Driver key').waitFor();
  });

  it('the page shows what is missing without scripts, without a position, and with a wrong key', async () => {
    const bare = await openPage(await openProfile({ ...phone, javaScriptEnabled: false }), `${api.url}/drive`);
    expect(await bare.locator('noscript').textContent()).to.include('This page needs JavaScript');
    const driver = await newGatewayDriver(api);
    const profile = await openProfile(phone);
    await profile.addInitScript(() => {
      navigator.geolocation.getCurrentPosition = (_found, fail) =>
        fail?.({ code: 1, PERMISSION_DENIED: 1 } as GeolocationPositionError);
    });
    const page = await openPage(profile, `${api.url}/drive`);
    await signIn(page, `${driver.key}x`);
    await page.getByRole('alert').getByText('This key does not work').waitFor();
    await signIn(page, driver.key);
    await press(page, 'Go online');
    await page.locator('#bar', { hasText: 'Your position is blocked' }).waitFor();
    await heading(page, 'You are offline');
  });

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

    const rideId = await openRide(place);
    await press(page, 'Counter');
    const [offer, dock] = [await button(page, /^Offer/).boundingBox(), await page.locator('#dock').boundingBox()];
    expect((offer?.y ?? 0) + (offer?.height ?? 0), 'the button is in view').to.be.at.most(dock?.y ?? 0);
    await press(page, 'Higher price');
    await press(page, 'More minutes');
    await lookAround('drive-counter', page);
    await press(page, 'Offer $26.00, in 2 min');
    await page.getByText('Your offer: $26.00').waitFor();
    const other = await openRide(place, { fare: 1_240, rideType: 'intercity', distanceKm: 412.7 });
    await heading(page, '2 requests');
    await lookAround('drive-requests', page);
    await press(page, /^Accept/);
    await offers(other, 1);
    await partner.post(`/rides/${other}/cancel`);
    await page.locator('.card', { hasText: 'The partner cancelled' }).scrollIntoViewIfNeeded();
    await lookAround('drive-gone', page);

    await partner.post(`/rides/${rideId}/accept`, { offerId: (await offersOn(rideId))[0].offerId });
    await heading(page, 'Drive to the pickup');
    await lookAround('drive-ride', page);
    await press(page, 'Cancel ride');
    await heading(page, 'Cancel this ride?');
    await lookAround('drive-cancel', page);
    await press(page, 'Keep the ride');

    await profile.setOffline(true);
    await press(page, 'Arrived');
    await page.getByText('Kept and sent later: Arrived').waitFor();
    // Chromium logs the broken stream on the console.
    page.complaints.length = 0;
    await lookAround('drive-tunnel', page);
    await press(page, 'Start trip');
    await press(page, 'Complete');
    await heading(page, 'Trip completed');
    await lookAround('drive-completed', page);
  });
});
