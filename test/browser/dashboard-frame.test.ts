import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { keys } from '../../shared/keys/api-key.ts';
import { useVisitor } from '../support/dashboard.ts';
import { useTestApi } from '../support/service.ts';
import { openAs } from './as-visitor.ts';
import { layoutShifts } from './browser.ts';

const phone = { width: 360, height: 740 };
const tabs = ['', '/keys', '/rides', '/deliveries', '/usage', '/console'];

describe('the frame of the dashboard in a browser', () => {
  const api = useTestApi();
  const visitor = useVisitor(api);

  const open = (path: string, options: BrowserContextOptions = {}) =>
    openAs(visitor, `${api.url}/dashboard${path}`, options);

  /** The places of the header, the title and the tabs. */
  const places = (page: Page) =>
    page.evaluate(() => {
      const scrolled = document.querySelector('.rail')?.scrollLeft ?? 0;
      const placeOf = (element: Element, scrolledBy = 0) => {
        const { x, y } = element.getBoundingClientRect();
        return [element.className, element.tagName, Math.round(x + scrolledBy), Math.round(y)];
      };
      const fixed = [...document.querySelectorAll('.top, .brand, .who, .rail, main, h1')];
      const tabs = [...document.querySelectorAll('.rail li')];
      return [...fixed.map((element) => placeOf(element)), ...tabs.map((tab) => placeOf(tab, scrolled))];
    });

  for (const [name, viewport] of [
    ['a desktop', { width: 1280, height: 800 }],
    ['a phone', phone],
  ] as const) {
    it(`stays in its place from page to page, with live and test data (${name})`, async () => {
      await visitor.newKey();
      const page = await open('', { viewport });
      const first = await places(page);
      for (const tab of [...tabs.slice(1), '/account', '/rides?mode=test']) {
        await page.goto(`${api.url}/dashboard${tab}`);
        expect(await places(page), tab).to.deep.equal(first);
      }
    });
  }

  it('shows the active tab on a phone, and moves the tabs only as far as needed', async () => {
    const page = await open('', { viewport: phone, hasTouch: true });
    const scrolled = () => page.locator('.rail').evaluate((row) => row.scrollLeft);
    for (const tab of tabs) {
      await page.goto(`${api.url}/dashboard${tab}`);
      const box = await page.locator('.rail [aria-current]').boundingBox();
      expect(box?.x, tab).to.be.at.least(0);
      expect((box?.x ?? 0) + (box?.width ?? 0), tab).to.be.at.most(phone.width);
    }
    const before = await scrolled();
    expect(before).to.be.above(0);
    await page.locator('.rail').getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
    expect(await scrolled()).to.equal(before);
  });

  it('fits every page into a window of 1,280 x 800 px at 200 % zoom', async () => {
    const { keyId, rideId } = await visitor.rideIn('bidding');
    const page = await open('', { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 });
    for (const path of [...tabs, '/keys/new', `/keys/${keyId}`, `/rides/${rideId}`, `/rides/${rideId}/cancel`]) {
      await page.goto(`${api.url}/dashboard${path}`);
      const { tooWide, fixed } = await page.evaluate(() => ({
        tooWide: document.documentElement.scrollWidth - innerWidth,
        // The height of what covers the content while it scrolls.
        fixed: [...document.querySelectorAll('body *')]
          .filter((element) => ['fixed', 'sticky'].includes(getComputedStyle(element).position))
          .map((element) => element.getBoundingClientRect().height),
      }));
      expect(tooWide, path).to.be.at.most(0);
      for (const height of fixed) expect(height, path).to.be.at.most(100);
    }
  });

  it("shows times in the reader's zone, recent ones relative, with UTC as title and on focus", async () => {
    const { keyId } = await visitor.newKey();
    const set = (createdAt: Date) => keys.updateOne({ _id: keyId }, { $set: { createdAt } });
    await set(new Date('2025-02-03T04:05:06.789Z'));
    const page = await open(`/keys/${keyId}`);
    const time = page.locator('.facts time').first();
    // The tests' browsers are in New York, five hours behind UTC in winter.
    expect(await time.textContent()).to.match(/^2 Feb 2025, 11:05\sPM$/);
    expect(await time.getAttribute('title')).to.match(/^2 Feb 2025, 11:05:06\sPM \(2025-02-03 04:05:06.789 UTC\)$/);
    await time.focus();
    const shown = await time.evaluate((element) => getComputedStyle(element, '::after').content);
    expect(shown).to.include('04:05:06.789 UTC');
    await set(new Date(Date.now() - 5 * 60_000 - 5_000));
    await page.reload();
    expect(await time.textContent()).to.equal('5 min ago');
    const german = await open(`/keys/${keyId}`, { locale: 'de-DE', timezoneId: 'Europe/Berlin' });
    await set(new Date('2025-02-03T04:05:06.789Z'));
    await german.reload();
    expect(await german.locator('.facts time').first().textContent()).to.equal('3 Feb 2025, 05:05');
    const plain = await open(`/keys/${keyId}`, { javaScriptEnabled: false });
    expect(await plain.locator('.facts time').first().textContent()).to.equal('2025-02-03 04:05 UTC');
    expect(page.complaints).to.deep.equal([]);
  });

  it('moves nothing while its script runs', async () => {
    await visitor.newKey();
    const page = await open('/keys');
    for (const path of ['/keys', '/account']) {
      await page.goto(`${api.url}/dashboard${path}`, { waitUntil: 'networkidle' });
      expect(await layoutShifts(page), path).to.equal(0);
    }
  });
});
