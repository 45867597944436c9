import { expect } from 'chai';
import type { Point } from '../../shared/base/great-circle.ts';
import { suspendDriver } from '../../shared/drivers/manage-drivers.ts';
import { newGatewayDriver, somewhere } from '../support/drivers.ts';
import { until } from '../support/until.ts';
import { openPage, openProfile, seriousFindings } from './browser.ts';
import { button, heading, phone, press, signIn, standingAt, stepsSent, useDrivers } from './drive-phones.ts';

describe("the driver's page", () => {
  const { api, partner, online, openRide, rideNow, offersOn, status, offers, choose, chosen } = useDrivers();

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
    await button(page, 'Offer $26.25 there in 1 min').waitFor();
    expect(await button(page, /^Accept/).isVisible(), 'the counter-offer replaces Accept').to.equal(false);
    await press(page, 'Higher price');
    await partner.post(`/rides/${rideId}/fare`, { fare: 27.5 });
    await page.locator('.fare', { hasText: '$27.50' }).waitFor();
    await button(page, 'Offer $29.00 there in 1 min').waitFor();
    await press(page, 'Back');
    await press(page, /^Accept \$27\.50/);
    await offers(rideId, 1);
    expect((await offersOn(rideId))[0].price).to.equal(27.5);
  });

  it('the page shows what the partner has changed in an open request', async () => {
    const place = somewhere();
    const { page } = await online(place);
    const rideId = await openRide(place);
    await page.locator('.request', { hasText: '5.6 km' }).waitFor();
    const destination = { lat: place.lat + 0.1, lng: place.lng };
    const pickupAt = Date.now() + 40 * 60_000;
    await partner.send('PATCH', `/rides/${rideId}`, { destination, pickupAt, passengerCount: 4 });
    await page.locator('.request', { hasText: '11.1 km' }).waitFor();
    const part = (name: string) => page.locator(`[data-part="${name}"]`);
    expect(await part('passengers').textContent()).to.equal('4');
    expect(await part('special').textContent()).to.match(/^Pickup/);
    expect(await part('destination-map').getAttribute('href')).to.include(`geo:${destination.lat},`);
  });

  it('two drivers bid on a live ride: a counter-offer wins, and the other driver is notified', async () => {
    const place = somewhere();
    const [dana, omar] = [await entering(place), await online(place)];
    const rideId = await openRide(place);
    for (const { page } of [dana, omar]) {
      await page.locator('.fare', { hasText: '$25.00' }).waitFor();
      expect(await page.locator('.request').innerText()).to.match(/\d:\d\d/);
      expect(await page.content()).not.to.match(/Main Street|Byron|555-0111|suitcases/);
    }
    await press(omar.page, /^Accept \$25\.00/);
    await press(dana.page, 'Counter');
    await press(dana.page, 'Higher price');
    await press(dana.page, 'More minutes');
    await press(dana.page, 'Offer $27.50 there in 2 min');
    await offers(rideId, 2);
    await dana.page.getByText('Your offer: $27.50').waitFor();

    const { offerId } = (await offersOn(rideId)).find(({ price }) => price === 27.5);
    await partner.post(`/rides/${rideId}/accept`, { offerId });
    await omar.page.locator('.request', { hasText: 'The ride went to another driver' }).waitFor();
    expect(await omar.page.getByRole('status').textContent()).to.equal('The ride went to another driver');
    await press(omar.page, 'OK');
    await heading(omar.page, 'Waiting for requests');

    const { page } = dana;
    await heading(page, 'Drive to the pickup');
    await page
      .getByText(/^You were chosen/)
      .first()
      .waitFor();
    await page.getByText('1 Main Street, side entrance').waitFor();
    await page.getByText('Two suitcases').waitFor();
    expect(await page.getByRole('link', { name: /^Call/ }).getAttribute('href')).to.equal('tel:+12025550111');
    expect(await page.getByRole('link', { name: 'Open in maps' }).getAttribute('href')).to.equal(
      `geo:${place.lat},${place.lng}?q=${place.lat},${place.lng}`,
    );
    expect(await seriousFindings(page)).to.deep.equal([]);
    await dana.profile.setGeolocation({ latitude: place.lat + 0.001, longitude: place.lng });
    await until(async () => (await rideNow(rideId)).liveLocation?.lat === place.lat + 0.001);
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
    await page.locator('.request', { hasText: 'The partner cancelled' }).waitFor();
    await press(page, 'OK');

    const rideId = await openRide(place);
    await press(page, /^Accept/);
    await offers(rideId, 1);
    await choose(rideId);
    await heading(page, 'Drive to the pickup');
    await partner.post(`/rides/${rideId}/cancel`);
    await heading(page, 'The partner cancelled');
    await press(page, 'Continue');
    await heading(page, 'Waiting for requests');
    expect(page.complaints).to.deep.equal([]);
  });

  it('the page stores steps while offline and says so; back online, it sends each step once and in order', async () => {
    const { page, profile, rideId } = await chosen(somewhere());
    const sent = stepsSent(profile);
    await profile.setOffline(true);
    await page.getByText('No connection. Actions are kept.').waitFor();
    await press(page, 'Arrived');
    await heading(page, 'Wait for the passenger');
    await press(page, 'Start trip');
    await heading(page, 'Drive to the destination');
    await page.getByText('No connection. Sent later: Arrived, Start trip').waitFor();
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
    await signIn(page, driver.key.slice(0, -1));
    await page.getByRole('alert').getByText('This key does not work').waitFor();
    await signIn(page, driver.key);
    await press(page, 'Go online');
    await page.locator('#bar', { hasText: 'Your position is blocked' }).waitFor();
    await heading(page, 'You are offline');
  });
});
