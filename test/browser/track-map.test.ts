import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { streetTiles } from '../../dev/streets/street-tiles.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { bringSuccessor } from '../../shared/rides/rebid.ts';
import type { Client } from '../support/client.ts';
import { endedAgo } from '../support/rated-rides.ts';
import { useTestApi } from '../support/service.ts';
import { useStarted } from '../support/use-started.ts';
import { lookAround, openPage, openProfile, seriousFindings } from './browser.ts';
import {
  areClear,
  areInView,
  cityHall,
  headline,
  liveRideWithMap,
  rideWithMap,
  scaleOf,
  timesSquare,
} from './live-map.ts';

const phone = { viewport: { width: 360, height: 740 }, hasTouch: true };
const phoneOnItsSide = { viewport: { width: 844, height: 390 }, hasTouch: true };
const desktop = { viewport: { width: 1280, height: 800 } };

const controls = ['.leaflet-control-scale', '.north-arrow', '.leaflet-control-zoom', '.recenter', '#facts'];

describe('the map of a ride', () => {
  // A simulated drive takes a minute.
  const api = useTestApi({ SIMULATION_SPEED: '0.05', SUPPORT_PHONE: '+1 202 555 0100', MAX_STREAMS_PER_CLIENT: '100' });
  let partner: Client;
  before(async () => {
    partner = await api.partner('test');
  });
  const newMap = (fields?: object) => rideWithMap(api, partner, 'no_offers', fields);

  for (const [name, screen] of Object.entries({ phone, phoneOnItsSide, desktop })) {
    it(`shows the car and its next place, with scale and north clear of the sheet (${name})`, async () => {
      const { url, accept, act } = await newMap();
      const page = await openPage(await openProfile(screen), url);
      await areInView(page, '.point.pickup', '.point.destination', 100);
      await accept();
      await areInView(page, '.car', '.point.pickup', 100);
      await act('arrive');
      await headline(page, 'Driver is here');
      await areInView(page, '.car', '.point.pickup', 0);
      await act('start');
      await areInView(page, '.car', '.point.destination', 100);
      await act('complete');
      await areInView(page, '.point.pickup', '.point.destination', 100);
      await page.locator('#map').focus();
      await page.keyboard.press('ArrowRight');
      await areClear(page, ...controls);
      expect(page.complaints).to.deep.equal([]);
    });
  }

  it('shows a ride across 180 degrees at the scale of the ride', async () => {
    const across = { pickup: { lat: -16.802, lng: 179.99 }, destination: { lat: -16.853, lng: -179.915 } };
    const { url, accept } = await newMap(across);
    const page = await openPage(await openProfile(phone), url);
    await areInView(page, '.point.pickup', '.point.destination', 100);
    await accept();
    await areInView(page, '.car', '.point.pickup', 0);
  });

  it('stops following when the viewer drags the map, and follows again after "Recenter"', async () => {
    const { url, accept } = await newMap();
    const page = await openPage(await openProfile(desktop), url);
    const before = await scaleOf(page);
    await page.mouse.move(900, 400);
    await page.mouse.down();
    await page.mouse.move(700, 300, { steps: 5 });
    await page.mouse.up();
    const recenter = page.getByRole('button', { name: 'Recenter' });
    await recenter.waitFor();
    await accept();
    await headline(page, /^Arriv/);
    await page.locator('.car').waitFor();
    // The scale depends on the latitude of the middle, which the drag has changed a little.
    expect(await scaleOf(page)).to.be.closeTo(before, before / 50);
    await recenter.click();
    await areInView(page, '.car', '.point.pickup', 300);
    expect(await scaleOf(page)).to.be.above(before * 1.5);
    expect(await recenter.isHidden()).to.equal(true);
  });

  it('keeps the route at its pins while the camera flies and the window changes its size', async () => {
    const { url, accept } = await newMap();
    const page = await openPage(await openProfile(desktop), url);
    await areInView(page, '.point.pickup', '.point.destination', 100);
    await page.evaluate(() => {
      const seen = { apart: 0 };
      Object.assign(window, { seen });
      const look = () => {
        const [route, pin] = ['path.route', '.point.pickup'].map((name) => document.querySelector(name));
        const { x, y, width, height } = (pin as Element).getBoundingClientRect();
        const path = route as SVGPathElement;
        const start = path.getPointAtLength(0).matrixTransform(path.getScreenCTM() as DOMMatrix);
        const isInView = x > 400 && x < innerWidth && y > 0 && y < innerHeight;
        if (isInView) seen.apart = Math.max(seen.apart, Math.hypot(start.x - x - width / 2, start.y - y - height / 2));
        requestAnimationFrame(look);
      };
      look();
    });
    await accept();
    await headline(page, /^Arriv/);
    for (const width of [1_000, 1_200, 900]) await page.setViewportSize({ width, height: 700 });
    await areInView(page, '.car', '.point.pickup', 100);
    expect(await page.evaluate(() => (window as unknown as { seen: { apart: number } }).seen.apart)).to.be.below(3);
  });

  it('works with only the keyboard: skips and moves the map', async () => {
    const { url } = await newMap();
    const page = await openPage(await openProfile(), url);
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).to.match(/Skip the map/);
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).to.equal('facts');
    await page.locator('#map').focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('button', { name: 'Recenter' }).waitFor();
  });

  for (const javaScriptEnabled of [true, false]) {
    it(`asks for a rating, answered with only the keyboard (scripts: ${javaScriptEnabled})`, async () => {
      const { url, rideId, accept, act } = await newMap();
      await accept();
      for (const action of ['arrive', 'start', 'complete'] as const) await act(action);
      await endedAgo(rideId, 61);
      const page = await openPage(await openProfile({ javaScriptEnabled }), url);
      await page.getByRole('radio', { name: '1 star' }).focus();
      for (const key of ['ArrowRight', 'ArrowRight', 'Tab']) await page.keyboard.press(key);
      await page.keyboard.type('Clean car');
      for (const key of ['Tab', 'Enter']) await page.keyboard.press(key);
      await page.getByText('Thank you for your rating').waitFor();
      expect((await partner.get(`/rides/${rideId}`)).body.rating).to.include({ stars: 3, comment: 'Clean car' });
    });
  }

  it('does not animate the car with reduced motion', async () => {
    const { url, accept } = await newMap();
    await accept();
    const page = await openPage(await openProfile({ reducedMotion: 'reduce' }), url);
    await headline(page, /^Arriv/);
    const places = await page.evaluate(async () => {
      const seen = new Set<string>();
      const until = performance.now() + 1_500;
      while (performance.now() < until) {
        seen.add((document.getElementById('map') as HTMLElement).dataset.car ?? '');
        await new Promise(requestAnimationFrame);
      }
      return seen.size;
    });
    expect(places).to.be.at.most(3);
  });

  it('shows and hides the details on a phone by tap, key and swipe, also without scripts', async () => {
    const { url } = await newMap();
    const page = await openPage(await openProfile(phone), url);
    const steps = page.locator('#steps');
    expect(await steps.isVisible()).to.equal(false);
    await page.getByRole('checkbox', { name: 'Show details' }).tap();
    await steps.waitFor();
    await areClear(page, '.leaflet-control-scale', '.north-arrow', '.leaflet-control-zoom', '#facts');
    await page.getByRole('checkbox', { name: 'Show details' }).press('Space');
    await steps.waitFor({ state: 'hidden' });
    await page.evaluate(() => {
      const target = document.getElementById('answer') as HTMLElement;
      const touch = (clientY: number) => new Touch({ identifier: 1, target, clientX: 99, clientY });
      target.dispatchEvent(new TouchEvent('touchstart', { touches: [touch(600)] }));
      target.dispatchEvent(new TouchEvent('touchend', { changedTouches: [touch(500)] }));
    });
    await steps.waitFor();
    const plain = await openPage(await openProfile({ ...phone, javaScriptEnabled: false }), url);
    await plain.getByRole('checkbox', { name: 'Show details' }).tap();
    await plain.locator('#steps').waitFor();
    expect(await plain.getByRole('button', { name: 'Share' }).isVisible()).to.equal(false);
  });

  it('shows the answer, the car and the actions without scrolling on a phone on its side', async () => {
    const { url, accept } = await newMap();
    await accept();
    const page = await openPage(await openProfile(phoneOnItsSide), url);
    await headline(page, /^Arriv/);
    for (const selector of ['#headline', '#when', '#plate', '#share']) {
      const box = await page.locator(selector).boundingBox();
      expect((box?.y ?? 999) + (box?.height ?? 0), selector).to.be.at.most(390);
    }
    expect(await seriousFindings(page)).to.deep.equal([]);
  });

  it('shares the link, or copies it, and calls for help', async () => {
    const { url } = await newMap();
    const sharing = await openProfile();
    await sharing.addInitScript(() => {
      const share = async (data: ShareData) => Object.assign(window, { shared: data.url });
      Object.defineProperty(navigator, 'share', { value: share });
    });
    const page = await openPage(sharing, url);
    await page.getByRole('button', { name: 'Share' }).click();
    expect(await page.evaluate(() => (window as unknown as { shared: string }).shared)).to.equal(url);
    const help = page.getByRole('link', { name: /^I need help/ });
    expect(await help.getAttribute('href')).to.equal('tel:+12025550100');
    // The browser of the test has no program for calls.
    await help.evaluate((link) => link.addEventListener('click', (event) => event.preventDefault()));
    const reported = page.waitForResponse((response) => response.url() === `${url}/help`);
    await help.click();
    expect((await reported).status()).to.equal(204);

    const copying = await openProfile({ permissions: ['clipboard-read', 'clipboard-write'] });
    await copying.addInitScript(() => Object.defineProperty(navigator, 'share', { value: undefined }));
    const other = await openPage(copying, url);
    await other.getByRole('button', { name: 'Share' }).click();
    await other.getByRole('button', { name: 'Link copied' }).waitFor();
    expect(await other.evaluate(() => navigator.clipboard.readText())).to.equal(url);
  });

  it('shows the addresses of the partner as text', async () => {
    const { url } = await newMap({
      pickup: { ...timesSquare, address: '<b>7</b> Elm St & Co' },
      destination: { ...cityHall, address: '1 Park Row' },
    });
    const page = await openPage(await openProfile(), url);
    await page.locator('.point.pickup', { hasText: '<b>7</b> Elm St & Co' }).waitFor();
    expect(await page.locator('.places').innerText())
      .to.include('<b>7</b> Elm St & Co')
      .and.include('1 Park Row');
    await lookAround('track-addresses', page);
  });

  it('shows another destination as soon as the partner has changed it', async () => {
    const { rideId, url } = await newMap();
    const page = await openPage(await openProfile(desktop), url);
    const centralPark = { lat: 40.7829, lng: -73.9654, address: 'Central Park' };
    await partner.send('PATCH', `/rides/${rideId}`, { destination: centralPark });
    await page.locator('.point.destination', { hasText: 'Central Park' }).waitFor();
    expect(await page.locator('.point.destination').count()).to.equal(1);
    expect(await page.locator('.places').innerText()).to.include('Central Park');
    await areInView(page, '.point.pickup', '.point.destination', 100);
  });

  it('leads to the map of the new ride, however late that exists', async () => {
    const { rideId, url, accept } = await newMap({ onDriverCancel: 'rebid' });
    await accept();
    const page = await openPage(await openProfile(), url);
    await applyAction(api.ctx, rideId, { action: 'cancel', by: 'driver' }, 'anyone');
    await headline(page, 'Finding another driver');
    await page.waitForEvent('load');
    await headline(page, 'Finding another driver');
    await bringSuccessor(api.ctx, rideId);
    await page.waitForResponse((response) => response.status() === 302);
  });

  it('shows the way of a real car to the pickup, and its ETA', async () => {
    const { url, accept, report } = await liveRideWithMap(api, await api.partner('live'));
    await report({ lat: timesSquare.lat + 0.018, lng: timesSquare.lng });
    await accept();
    const page = await openPage(await openProfile(), url);
    await headline(page, /^Arrives in [5-9] min$/);
    expect(await page.locator('#when').textContent()).to.match(/^About \d+:\d\d.[AP]M$/);
    await page.waitForFunction(() => (document.querySelector('.approach')?.getBoundingClientRect().height ?? 0) > 100);
    await lookAround('track-live', page);
  });
});

describe('the live map with tiles', () => {
  const tiles = useStarted(async () => {
    const server = http.createServer((_, response) =>
      response.setHeader('Content-Type', 'image/svg+xml').end(
        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 256 256"><path fill="#eef0ea" d="M0 0h256v256H0z"/>
        <path fill="#cfe3c8" d="M20 30h90v70H20z"/><path stroke="#fff" stroke-width="9" d="M0 128h256M140 0v256"/></svg>`,
      ),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { host, close: () => server.close() };
  });
  const api = useTestApi(() => ({
    TILE_URL: `http://${tiles.host}/{z}/{x}/{y}.svg`,
    TILE_ATTRIBUTION: 'Test tiles',
  }));

  for (const [name, screen] of Object.entries({ phone, desktop })) {
    it(`passes accessibility checks, with the attribution clear of the sheet (${name})`, async () => {
      const { url, accept } = await rideWithMap(api, await api.partner('test'));
      await accept();
      const colorScheme = name === 'phone' ? 'light' : 'dark';
      const page = await openPage(await openProfile({ ...screen, colorScheme }), url);
      await page.locator('img.leaflet-tile-loaded').first().waitFor();
      await areClear(page, '.leaflet-control-attribution', '.leaflet-control-zoom', '#facts');
      expect(await seriousFindings(page)).to.deep.equal([]);
      expect(new Set(page.complaints)).to.deep.equal(new Set([`request to ${tiles.host}`]));
    });
  }
});

describe('the live map with streets', () => {
  const file = useStarted(async () => ({ path: await streetTiles(), close: () => undefined }));
  const api = useTestApi(() => ({ TILE_URL: file.path, SIMULATION_SPEED: '0.05' }));
  const across = { pickup: { lat: 57.7005, lng: 11.9526 }, destination: { lat: 57.7072, lng: 11.9385 } };

  it('draws them in the colours of the page, within 120 kB of our files and 100 kB of tiles', async () => {
    const { url } = await rideWithMap(api, await api.partner('test'), 'no_offers', across);
    const page = await openPage(await openProfile(desktop), url);
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.waitForFunction(
        () => {
          const canvas = document.createElement('canvas');
          canvas.width = 512;
          canvas.height = 512;
          const copy = canvas.getContext('2d', { willReadFrequently: true }) as CanvasRenderingContext2D;
          const colour = (name: string) => {
            document.body.style.outlineColor = `var(--map-${name})`;
            copy.fillStyle = getComputedStyle(document.body).outlineColor;
            copy.fillRect(0, 0, 1, 1);
            return copy.getImageData(0, 0, 1, 1).data.join();
          };
          const wanted = new Set([colour('ground'), colour('main-street')]);
          for (const tile of document.querySelectorAll<HTMLCanvasElement>('canvas.leaflet-tile-loaded')) {
            copy.drawImage(tile, 0, 0);
            const pixels = copy.getImageData(0, 0, 512, 512).data;
            for (let i = 0; i < pixels.length; i += 4) wanted.delete(pixels.slice(i, i + 4).join());
          }
          return wanted.size === 0;
        },
        undefined,
        { polling: 500 },
      );
    }
    const loaded = await page.evaluate(() =>
      [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].map((entry) => ({
        name: entry.name,
        size: (entry as PerformanceResourceTiming).encodedBodySize,
      })),
    );
    const isTile = ({ name }: { name: string }) => name.includes('/tiles/');
    const sum = (sizes: number[]) => sizes.reduce((total, size) => total + size, 0);
    const tiles = sum(loaded.filter(isTile).map(({ size }) => size));
    const ours = sum(await Promise.all(loaded.filter((each) => !isTile(each)).map(sizeOverHttps)));
    console.log(`first view: ${ours} bytes of our files, ${tiles} bytes of tiles`);
    expect(ours).to.be.within(1, 120_000);
    expect(tiles).to.be.within(1, 100_000);
    expect(await page.locator('.leaflet-control-attribution a').getAttribute('href')).to.include('openstreetmap.org');
    await lookAround('track-streets', page);
    expect(page.complaints).to.deep.equal([]);
  });
});

/** The size of a file as production sends it: browsers accept Brotli only over HTTPS. A page is not compressed. */
async function sizeOverHttps({ name, size }: { name: string; size: number }): Promise<number> {
  if (!name.includes('/assets/')) return size;
  const { headers } = await fetch(name, { headers: { 'accept-encoding': 'br' } });
  expect(headers.get('content-encoding')).to.equal('br');
  return Number(headers.get('content-length'));
}

for (const [name, path] of Object.entries({ images: '{z}/{x}/{y}.png', streets: 'region.pmtiles' })) {
  describe(`the live map with ${name} that do not load`, () => {
    const api = useTestApi({
      TILE_URL: `http://127.0.0.1:1/${path}`,
      TILE_ATTRIBUTION: '© OpenStreetMap contributors',
    });

    it('is the map without tiles after 2 s: a grid with scale and north, and no broken image', async () => {
      const { url } = await rideWithMap(api, await api.partner('test'));
      const page = await openPage(await openProfile(phone), url);
      await areClear(page, '.leaflet-control-scale', '.north-arrow', '.leaflet-control-attribution', '#facts');
      await page.locator('.plain-ground').first().waitFor();
      expect(await page.locator('img:visible').count()).to.equal(0);
    });
  });
}
