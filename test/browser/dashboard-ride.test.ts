import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { accounts } from '../../shared/accounts/account.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { attempts } from '../../shared/webhooks/attempts.ts';
import { signatureHeader } from '../../shared/webhooks/sign.ts';
import { signedIn } from '../support/dashboard.ts';
import { newDriver, offerOn } from '../support/rides.ts';
import { attemptStates, realisticRide, rideWithAttempts } from '../support/rides-with-attempts.ts';
import { useTestApi } from '../support/service.ts';
import { newMember, visitorAs } from '../support/team.ts';
import { until } from '../support/until.ts';
import { asVisitor, openAs } from './as-visitor.ts';
import { lookAt } from './browser.ts';

const phone = { viewport: { width: 360, height: 740 }, hasTouch: true };

/** The page's frame callbacks of this frame and the next have run. */
const twoFrames = (page: Page) =>
  page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));

describe("a ride's page", () => {
  // No workers run, so no step of a ride happens automatically.
  const api = useTestApi();

  /** A ride with one event that did not arrive, and the URL of its page. */
  async function failedRide() {
    const visitor = await signedIn(api);
    const { keyId, signingSecret } = await visitor.newKey('live');
    const { delivered, failed } = attemptStates;
    const owner = { keyId, accountId: visitor.account._id };
    const rideId = await rideWithAttempts(api.ctx, owner, 'driver_arriving', [delivered, delivered, failed]);
    return { visitor, rideId, signingSecret, url: `${api.url}/dashboard/rides/${rideId}` };
  }

  /** A bidding live ride with two offers, and the URL of its page. */
  async function biddingRide() {
    const visitor = await signedIn(api);
    const ride = await visitor.rideIn('bidding', realisticRide());
    return { ...ride, visitor, url: api.url + ride.path };
  }

  it('opens timeline entries, and goes back, with only the keyboard and without loading a new page', async () => {
    const { visitor, url, rideId } = await failedRide();
    await applyAction(api.ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone');
    const page = await openAs(visitor, url);
    const title = page.locator('#detail-title');
    expect(await title.textContent()).to.match(/ride.status/);
    await page.evaluate(() => Object.assign(window, { isSamePage: true }));
    const focusedText = () => page.evaluate(() => document.querySelector('a:focus')?.textContent ?? '');
    for (let tabs = 0; tabs < 40 && !(await focusedText()).includes('Ride requested'); tabs++) {
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await title.filter({ hasText: 'Ride requested' }).waitFor();
    expect(await focusedText()).to.include('Ride requested');
    // The details of the chosen entry come first.
    for (let tabs = 0; tabs < 20 && !(await focusedText()).includes('Offer received'); tabs++) {
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await title.filter({ hasText: 'Offer received' }).waitFor();
    await page.goBack();
    await title.filter({ hasText: 'Ride requested' }).waitFor();
    expect(await page.evaluate(() => 'isSamePage' in window)).to.equal(true);
    expect(page.complaints).to.deep.equal([]);
  });

  it('opens details below the entry on a phone and beside it on a desktop, and never scrolls it away', async () => {
    const { visitor, url } = await failedRide();
    for (const viewport of [
      { width: 360, height: 740 },
      { width: 1280, height: 800 },
    ]) {
      const page = await openAs(visitor, `${url}?entry=created`, { viewport });
      const topOf = (selector: string) =>
        page.evaluate((one) => document.querySelector(one)?.getBoundingClientRect().top ?? Number.NaN, selector);
      for (const [entry, words] of [
        ['event-2', 'Offer received'],
        ['event-1', 'Offer received'],
        ['event-3', 'Offer accepted'],
        ['created', 'Ride requested'],
      ] as const) {
        const link = `#entry-${entry} > .entry`;
        await page.locator(link).scrollIntoViewIfNeeded();
        const before = await topOf(link);
        await page.locator(link).click();
        await page.locator(`#entry-${entry} + #opened #detail-title`, { hasText: words }).waitFor();
        await twoFrames(page);
        const [after, title] = [await topOf(link), await topOf('#detail-title')];
        // The page may scroll up by as much as the title of the details needs.
        expect(after, `${viewport.width} ${entry}`).to.be.within(0, before + 2);
        expect(title, `${viewport.width} ${entry}`).to.be.within(0, viewport.height);
      }
      expect(page.complaints).to.deep.equal([]);
    }
  });

  it('shows the chosen entry and its details on a phone without scripts', async () => {
    const { visitor, url } = await failedRide();
    const options = { viewport: { width: 360, height: 740 }, javaScriptEnabled: false };
    const page = await openAs(visitor, url, options);
    await page.getByRole('link', { name: /Ride requested/ }).click();
    await page.locator('#detail-title', { hasText: 'Ride requested' }).waitFor();
    const box = await page.locator('#entry-created > .entry').boundingBox();
    expect(box?.y).to.be.within(0, 300);
  });

  it('follows a live ride without loading a new page, and keeps its map and the focus', async () => {
    const { visitor, rideId, offers, url } = await biddingRide();
    const page = await openAs(visitor, url);
    await page.locator('#ride-map.leaflet-container').waitFor();
    await page.evaluate(() => {
      Object.assign(window, { firstMap: document.querySelector('#ride-map .leaflet-pane') });
      document.querySelector<HTMLElement>('a[data-entry]')?.focus();
    });
    await offerOn(api.ctx, rideId, { driver: newDriver({ name: 'Sam Ito' }), price: 26 });
    await page
      .locator('.offers tr', { hasText: 'Sam Ito' })
      .getByRole('button', { name: /^Accept/ })
      .waitFor();
    await page.locator('#said', { hasText: 'Offer received: Sam Ito' }).waitFor({ state: 'attached' });
    await applyAction(api.ctx, rideId, { action: 'accept', offerId: offers[0]?.offerId ?? '' }, 'anyone');
    await page.locator('h1 .pill', { hasText: 'driver arriving' }).waitFor();
    await page.locator('.ride-facts').getByRole('link', { name: offers[0]?.driver.phone }).waitFor();
    await applyAction(api.ctx, rideId, { action: 'arrive' }, 'anyone');
    await page.locator('h1 .pill', { hasText: 'arrived' }).waitFor();
    await page.locator('#headline', { hasText: 'Driver is here' }).waitFor();
    const kept = await page.evaluate(() => ({
      map: 'firstMap' in window && window.firstMap === document.querySelector('#ride-map .leaflet-pane'),
      focus: document.activeElement?.matches('a[data-entry]'),
    }));
    expect(kept).to.deep.equal({ map: true, focus: true });
    expect(page.complaints).to.deep.equal([]);
  });

  it('shows a change also if the page cannot be fetched for a while, and asks for it less and less often', async () => {
    const { visitor, rideId, url } = await failedRide();
    const page = await openAs(visitor, url);
    await page.clock.install();
    const tries: number[] = [];
    await page.route(url, (route) => {
      tries.push(performance.now());
      return tries.length <= 7 ? route.fulfill({ status: 503, body: '' }) : route.continue();
    });
    await applyAction(api.ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone');
    await until(async () => tries.length === 4);
    // After pauses of 1 and 2 s. A slow machine only makes it longer.
    expect((tries[3] ?? 0) - (tries[2] ?? 0)).to.be.at.least(3_990);
    await until(async () => {
      await page.clock.fastForward(30_000);
      return tries.length === 8;
    });
    await page.locator('h1 .pill', { hasText: 'cancelled' }).waitFor();
  });

  it('a page that is gone at the next change is loaded anew, and not fetched for ever', async () => {
    const { visitor, rideId, url } = await failedRide();
    const page = await openAs(visitor, url);
    await page.route(url, (route) => route.fulfill({ status: 404, contentType: 'text/html', body: '<h1>Gone</h1>' }));
    await applyAction(api.ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone');
    await page.getByRole('heading', { name: 'Gone' }).waitFor();
  });

  it('a new offer moves no other offer, so that nobody accepts the wrong one', async () => {
    const { visitor, rideId, url } = await biddingRide();
    const page = await openAs(visitor, url, phone);
    const button = page.getByRole('button', { name: /^Accept the offer of Dana/ });
    const before = await button.boundingBox();
    await offerOn(api.ctx, rideId, { driver: newDriver({ name: 'Sam Ito' }), price: 19 });
    await page.locator('.offers tr', { hasText: 'Sam Ito' }).waitFor();
    expect(await button.boundingBox()).to.deep.equal(before);
  });

  it('a refused offer is explained, and the page then follows the ride at its own address', async () => {
    const { visitor, rideId, offers, url } = await biddingRide();
    const page = await openAs(visitor, url);
    const offerId = offers[0]?.offerId ?? '';
    await applyAction(api.ctx, rideId, { action: 'withdrawOffer', offerId }, 'anyone');
    await page.evaluate((id) => {
      // The page may already show that the offer was withdrawn, so the form of the other offer is sent.
      const form = document.querySelector<HTMLFormElement>('form[action$="/accept"]') as HTMLFormElement;
      (form.elements.namedItem('offerId') as HTMLInputElement).value = id;
      form.requestSubmit();
    }, offerId);
    await page.getByRole('alert').filter({ hasText: 'The offer was withdrawn' }).waitFor();
    await page.waitForURL(url);
  });

  it('the wheel over the map scrolls the page', async () => {
    const { visitor, url } = await biddingRide();
    const page = await openAs(visitor, url);
    await page.locator('#ride-map.leaflet-container').waitFor();
    await page.locator('#ride-map').hover({ position: { x: 60, y: 60 } });
    await page.mouse.wheel(0, 200);
    await page.waitForFunction(() => scrollY > 0);
  });

  it('passes layout and accessibility checks: bidding, and a driver on the way', async () => {
    const { visitor, rideId, offers, url } = await biddingRide();
    const look = (name: string, prepare: (page: Page) => Promise<unknown>) => {
      const withMap = async (page: Page) => {
        await prepare(page);
        await page.locator('#ride-map.leaflet-container').waitFor();
      };
      return [`dashboard-ride-${name}`, new URL(url).pathname, withMap] as const;
    };
    const accept = async (page: Page) => {
      await applyAction(api.ctx, rideId, { action: 'accept', offerId: offers[0]?.offerId ?? '' }, 'anyone');
      await page.locator('h1 .pill', { hasText: 'driver arriving' }).waitFor();
    };
    await lookAt(api.url, [look('bidding', async () => {}), look('arriving', accept)], asVisitor(visitor));
  });

  it("checks an attempt's signature, and does not call a wrong body a wrong secret", async () => {
    const { visitor, rideId, signingSecret } = await failedRide();
    const attempt = await attempts.findOne({ rideId, outcome: 'failed' });
    const header = signatureHeader(signingSecret, attempt?.body ?? '', Math.floor(Date.now() / 1_000));
    await attempts.updateOne({ _id: attempt?._id }, { $set: { 'headers.X-Service-Signature': header } });
    const url = `${api.url}/dashboard/deliveries/${attempt?._id}`;
    const page = await openAs(visitor, url);
    await page.getByRole('link', { name: 'Check its signature' }).click();
    await page.getByLabel('Signing secret').fill(signingSecret);
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.locator('#result', { hasText: /^Valid/ }).waitFor();
    await page.getByLabel('Raw body').fill(attempt?.body?.replace('Dana', 'Dora') ?? '');
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.locator('#result', { hasText: /^Body changed.*The secret is right/ }).waitFor();
    expect(page.complaints).to.deep.equal([]);
  });

  it('says so when the role of the person no longer allows the page', async () => {
    const { visitor, url } = await biddingRide();
    const { _id: accountId } = visitor.account;
    const { id } = await newMember(accountId, 'desk');
    const page = await openAs(await visitorAs(api, accountId, id), url);
    await page.getByRole('heading', { name: 'Offers' }).waitFor();
    await accounts.updateOne({ _id: accountId, 'members.id': id }, { $set: { 'members.$.role': 'finance' } });
    await page.getByRole('heading', { name: 'Your role does not allow this' }).waitFor();
  });
});
