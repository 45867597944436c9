import { expect } from 'chai';
import { haversineKm } from '../../shared/base/great-circle.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Client } from '../support/client.ts';
import { scaled } from '../support/machine-speed.ts';
import { endedAgo } from '../support/rated-rides.ts';
import { useTestService } from '../support/workers.ts';
import { type Look, lookAt, openPage, openProfile, setClockBack, setHidden } from './browser.ts';
import { carOn, cityHall, headline, rideWithMap, timesSquare } from './live-map.ts';

describe('the live map', () => {
  // A simulated drive takes 6 s.
  const api = useTestService({ SIMULATION_SPEED: '0.5', MAX_STREAMS_PER_CLIENT: '100' });
  let partner: Client;
  before(async () => {
    partner = await api.partner('test');
  });

  const newMap = (scenario?: string, fields?: object) => rideWithMap(api, partner, scenario, fields);

  it('the live map passes layout and accessibility checks at each step of a ride', async () => {
    const { url, accept, act } = await newMap();
    const cancelled = await newMap();
    const later = await newMap('no_offers', { pickupAt: Date.now() + 26 * 3_600_000 });
    await applyAction(api.ctx, cancelled.rideId, { action: 'cancel', by: 'timeout' }, 'anyone');
    const rated = await newMap();
    await rated.accept();
    for (const action of ['arrive', 'start', 'complete'] as const) await rated.act(action);
    await endedAgo(rated.rideId, 61);
    const look = (name: string, words: string | RegExp, step: () => Promise<unknown>, at = url): Look => [
      `track-${name}`,
      at.slice(api.url.length),
      async (page) => {
        await step();
        await headline(page, words);
      },
    ];
    await lookAt(api.url, [
      look('bidding', 'Finding a driver', async () => {}),
      look('driver-arriving', /^Arriv/, accept),
      look('german', /^(Ankunft in|Gleich)/, async () => {}, `${url}?lang=de`),
      look('arabic', /الوصول/, async () => {}, `${url}?lang=ar`),
      look('arrived', 'Driver is here', () => act('arrive')),
      look('in-progress', /^Arriv/, () => act('start')),
      look('completed', 'Trip completed', () => act('complete')),
      look('cancelled', 'cancelled', async () => {}, cancelled.url),
      look('later', /^Scheduled for /, async () => {}, later.url),
      ['track-rating', new URL(rated.url).pathname, (page) => page.getByRole('radio', { name: '4 stars' }).check()],
    ]);
  }).timeout(180_000);

  it('the map page follows a ride to its end automatically, and its car never moves back', async () => {
    const { url, rideId } = await newMap('default');
    const page = await openPage(await openProfile(), url);
    await page.evaluate(() => {
      const drawn: string[] = [];
      const map = document.getElementById('map') as HTMLElement;
      const facts = document.getElementById('facts') as HTMLElement;
      const record = () => drawn.push(`${facts.dataset.status},${map.dataset.car}`);
      new MutationObserver(record).observe(map, { attributeFilter: ['data-car'] });
      Object.assign(window, { drawn });
    });
    await headline(page, 'Finding a driver');
    await headline(page, /^Arriv/);
    const ride = await rides.findOne({ _id: rideId });
    expect(ride?.driver?.name.split(' ')[0]).to.equal(await page.locator('#first-name').textContent());
    const before = await carOn(page);
    await headline(page, 'Driver is here');
    await headline(page, /^Arriv/);
    const after = await carOn(page);
    expect(after).not.to.deep.equal(before, 'the car has moved');
    const { liveLocation } = (await partner.get(`/rides/${rideId}`)).body;
    const [lat = 0, lng = 0] = (await carOn(page)) ?? [];
    // Less than the car drives in 3 s: it needs 6 s for the 5.3 km.
    expect(Math.abs(lat - liveLocation.lat)).to.be.below((timesSquare.lat - cityHall.lat) / 2);
    expect(Math.abs(lng - liveLocation.lng)).to.be.below((timesSquare.lng - cityHall.lng) / 2);
    await headline(page, 'Trip completed');
    expect(await carOn(page)).to.deep.equal([cityHall.lat, cityHall.lng], 'the car stays');
    expect(await page.locator('#when').textContent()).to.match(/^Arrived at \d+:\d\d.[AP]M$/);
    expect(await page.locator('#status').textContent()).to.equal('5.3 km in less than a minute.');
    expect(await page.locator('#steps time').count()).to.equal(5);
    const drawn = await page.evaluate(() => (window as unknown as { drawn: string[] }).drawn);
    const rows = drawn.map((row) => row.split(',')).filter(([, lat]) => lat);
    const kmToGo = rows.map(([status, lat, lng]) => {
      const car = { lat: Number(lat), lng: Number(lng) };
      const isTrip = status === 'in_progress' || status === 'completed';
      return isTrip ? haversineKm(car, cityHall) : haversineKm(car, timesSquare) + haversineKm(timesSquare, cityHall);
    });
    expect(new Set(rows.map(([status]) => status)))
      .to.include('driver_arriving')
      .and.to.include('in_progress');
    expect(rows.length).to.be.above(40);
    expect(kmToGo.at(-1)).to.be.below(0.001);
    const metresBack = kmToGo.slice(1).map((km, index) => (km - (kmToGo[index] ?? km)) * 1_000);
    expect(Math.max(...metresBack)).to.be.below(1);
    expect(page.complaints).to.deep.equal([]);
  }).timeout(120_000);

  it('the map page shows the pickup time of a ride for later until it opens', async () => {
    const { url, rideId } = await newMap('no_offers', { pickupAt: Date.now() + 26 * 3_600_000 });
    const page = await openPage(await openProfile(), url);
    await headline(page, /^Scheduled for /);
    await partner.post(`/test/rides/${rideId}/open`);
    await headline(page, 'Finding a driver');
  });

  it('eight tabs of one link are all updated over HTTP/1.1', async () => {
    const { url, accept, rideId } = await newMap();
    const profile = await openProfile();
    const pages = [];
    for (let tab = 0; tab < 8; tab++) pages.push(await openPage(profile, url));
    await Promise.all(pages.map((page) => headline(page, 'Finding a driver')));
    await accept();
    await Promise.all(pages.map((page) => headline(page, /^Arriv/)));
    await pages[0]?.close();
    await partner.post(`/rides/${rideId}/cancel`);
    await Promise.all(pages.slice(1).map((page) => headline(page, 'Ride cancelled')));
  }).timeout(90_000);

  it('the map page closes its stream while hidden, and shows the current state when visible again', async () => {
    const { url, rideId } = await newMap();
    const page = await openPage(await openProfile(), url);
    const streamEnded = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/events'));
    await page.waitForRequest((request) => request.url().endsWith('/events'));
    await setHidden(page, true);
    await streamEnded;
    await partner.post(`/rides/${rideId}/cancel`);
    expect(await page.locator('#headline').textContent()).to.equal('Finding a driver');
    await setHidden(page, false);
    await headline(page, 'Ride cancelled');
  });

  it("the map page follows a ride after the service's clock was set back by an hour", async () => {
    const { url, rideId } = await newMap();
    const page = await openPage(await openProfile(), url);
    await headline(page, 'Finding a driver');
    await setClockBack(page);
    await partner.post(`/rides/${rideId}/cancel`);
    await headline(page, 'Ride cancelled');
  });

  it('the map page reports a lost connection, and resumes after 6 s without an answer', async () => {
    const { url, rideId } = await newMap();
    const page = await openPage(await openProfile(), url);
    await headline(page, 'Finding a driver');
    let asked = 0;
    const away = (request: string) => /\/(events|state)$/.test(new URL(request).pathname);
    await page.route(
      (address) => away(address.href),
      // A proxy without an API answers 503; without a network, nobody answers.
      (route) => (asked++ % 2 === 0 ? route.abort() : route.fulfill({ status: 503, body: 'away' })),
    );
    await setHidden(page, true);
    await setHidden(page, false);
    await page.locator('#connection').waitFor();
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    await page.unrouteAll();
    await partner.post(`/rides/${rideId}/cancel`);
    await headline(page, 'Ride cancelled', scaled(60_000));
    await page.locator('#connection').waitFor({ state: 'hidden' });
  }).timeout(120_000);
});
