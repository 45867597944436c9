import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { SessionModel } from '../../shared/accounts/session.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { newDesk } from '../support/desk.ts';
import { scaled } from '../support/machine-speed.ts';
import { newDriver, newRide, offerOn, rideIn } from '../support/rides.ts';
import { useTestApi } from '../support/service.ts';
import { storedRide } from '../support/stored-rides.ts';
import { asVisitor, openAs } from './as-visitor.ts';
import { type Look, lookAt, openPage, openProfile, seriousFindings, setClockBack, setHidden } from './browser.ts';
import { areClear } from './live-map.ts';

type Desk = Awaited<ReturnType<typeof newDesk>>;

describe("a desk's board in a browser", () => {
  // No workers run, so no step of a ride happens automatically.
  const api = useTestApi();

  const open = ({ visitor }: Pick<Desk, 'visitor'>, query = '', options = {}) =>
    openAs(visitor, `${api.url}/dashboard/desk${query}`, options);
  const rideNamed = (page: Page, name: string) => page.locator('#board-list > li', { hasText: name });
  const named = (name: string) => ({ passenger: { name } });
  const summary = (page: Page, text: string) => page.locator('#board-summary', { hasText: text }).waitFor();

  it('shows a new ride and its offers without a reload, and keeps the focus and the place of the page', async () => {
    const desk = await newDesk(api);
    const { owner } = desk;
    for (let number = 1; number <= 12; number++) {
      await rideIn(api.ctx, 'in_progress', { ...owner, ...named(`Guest ${number}`) });
    }
    const page = await open(desk);
    const search = page.getByRole('searchbox', { name: 'Find a ride' });
    await search.fill('half a na');
    const rideId = await newRide(api.ctx, { ...owner, ...named('Ada Lovelace') });
    await rideNamed(page, 'Ada Lovelace').waitFor();
    expect(await search.inputValue()).to.equal('half a na');
    expect(await search.evaluate((field) => field === document.activeElement)).to.equal(true);
    const link = page.getByRole('link', { name: 'Guest 12', exact: true });
    await link.focus();
    const topOf = () => link.evaluate((element) => Math.round(element.getBoundingClientRect().top));
    const before = await topOf();
    await offerOn(api.ctx, rideId, { price: 26, etaMinutes: 4 });
    await page.getByRole('button', { name: 'Accept $26, 4 min, Toyota Prius, blue, 4.8' }).waitFor();
    await summary(page, '1 ride needs you');
    expect(await page.title()).to.match(/^\(1\) Desk/);
    expect(await link.evaluate((element) => element === document.activeElement)).to.equal(true);
    expect(await topOf()).to.be.within(before - 2, before + 2);
    expect(await page.locator('#board-list > li').first().innerText()).to.include('Needs you');
    expect(page.complaints).to.deep.equal([]);
  });

  it('says in place who was first when another person has accepted another offer', async () => {
    const desk = await newDesk(api);
    const { rideId, offers } = await rideIn(api.ctx, 'bidding', {
      ...{ ...desk.owner, ...named('Ada Lovelace') },
      offers: [{ price: 26 }, { price: 24, driver: newDriver({ name: 'Grace Hopper' }) }],
    });
    const page = await open(desk);
    const [first] = offers;
    await page.route('**/accept', async (route) => {
      await applyAction(api.ctx, rideId, { action: 'accept', offerId: first?.offerId ?? '' }, 'anyone');
      await route.continue();
    });
    await page.getByRole('button', { name: /^Accept \$24/ }).click();
    const message = page.locator('#board-message:visible', { hasText: 'Ada Lovelace: ' });
    await message.filter({ hasText: /accepted an offer for this ride: .+, \$26\.00\.$/ }).waitFor();
    await rideNamed(page, 'driver arriving').waitFor();
    expect(await page.getByRole('button', { name: /^Accept/ }).count()).to.equal(0);
  });

  it('asks once before a cancellation, and the question stays open while the board changes', async () => {
    const desk = await newDesk(api);
    const rideId = await newRide(api.ctx, { ...desk.owner, ...named('Ada Lovelace') });
    const page = await open(desk);
    await page.getByRole('searchbox').fill('typed');
    const cancel = () => page.getByRole('button', { name: 'Cancel ride' });
    await cancel().click();
    await page.getByRole('heading', { name: 'Cancel this ride?' }).waitFor();
    await page.getByRole('link', { name: 'Keep the ride' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    // A second Enter keeps the ride.
    await cancel().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('link', { name: 'Keep the ride' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect((await storedRide(rideId)).status).to.equal('bidding');
    await cancel().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Cancel this ride?' }).waitFor();
    await offerOn(api.ctx, rideId);
    await summary(page, '1 ride needs you');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel ride' }).dblclick();
    await page.getByText('Ada Lovelace: ride cancelled.').waitFor();
    await summary(page, 'Nothing needs you');
    expect((await storedRide(rideId)).status).to.equal('cancelled');
    expect(await page.getByRole('searchbox').inputValue()).to.equal('typed');
    expect(page.complaints).to.deep.equal([]);
  });

  it('copies the link of the passenger, and a message with it', async () => {
    const desk = await newDesk(api);
    await rideIn(api.ctx, 'driver_arriving', desk.owner);
    const page = await open(desk, '', { permissions: ['clipboard-read', 'clipboard-write'] });
    const copied = async (name: string) => {
      await page.getByRole('button', { name }).click();
      return page.evaluate(() => navigator.clipboard.readText());
    };
    const link = await copied('Copy link');
    expect(link).to.match(/\/track\//);
    expect(await copied('Copy message'))
      .to.match(/^Your driver Dana comes in a Toyota Prius/)
      .and.to.include(link);
    await page.clock.install();
    await page.locator('[data-copy]').first().dblclick();
    await page.getByRole('button', { name: 'Copied' }).first().waitFor();
    // The clipboard answers in order, so both clicks have been copied after this.
    await page.evaluate(() => navigator.clipboard.readText());
    await page.clock.runFor(10_000);
    expect(await page.locator('[data-copy]').first().innerText()).to.equal('Copy link');
  });

  it('plays a sound for a new offer only where it is turned on, and remembers that', async () => {
    const desk = await newDesk(api);
    const rideId = await newRide(api.ctx, desk.owner);
    const profile = await openProfile(asVisitor(desk.visitor));
    await profile.addInitScript(() => {
      const start = OscillatorNode.prototype.start;
      Object.assign(window, { tones: 0 });
      OscillatorNode.prototype.start = function (at) {
        (window as unknown as { tones: number }).tones += 1;
        start.call(this, at);
      };
    });
    const page = await openPage(profile, `${api.url}/dashboard/desk`);
    const tones = () => page.evaluate(() => (window as unknown as { tones: number }).tones);
    const sound = page.getByRole('button', { name: 'Sound for new offers' });
    expect(await sound.getAttribute('aria-pressed')).to.equal('false');
    await offerOn(api.ctx, rideId);
    await summary(page, '1 ride needs you');
    expect(await tones()).to.equal(0);
    await sound.click();
    await page.waitForFunction(() => (window as unknown as { tones: number }).tones === 2);
    await page.reload();
    await page.locator('h1').click();
    await sound.and(page.locator('[aria-pressed="true"]')).waitFor();
    await offerOn(api.ctx, rideId, { price: 22 });
    await page.waitForFunction(() => (window as unknown as { tones: number }).tones === 2);
    await sound.click();
    expect(await sound.getAttribute('aria-pressed')).to.equal('false');
  });

  it('asks for a press where the browser allows no sound yet, and plays no late sound', async () => {
    const desk = await newDesk(api);
    const rideId = await newRide(api.ctx, desk.owner);
    const profile = await openProfile(asVisitor(desk.visitor));
    // Playwright counts as a gesture, so the page itself refuses sounds until somebody presses a button.
    await profile.addInitScript(() => {
      localStorage.setItem('desk-sound', 'on');
      const test = { tones: 0, isAllowed: false, contexts: new Set<EventTarget>() };
      Object.assign(window, { test });
      const allowed = new Promise<void>((resolve) => addEventListener('pointerup', () => resolve(), true));
      const now = performance.now.bind(performance);
      addEventListener(
        'pointerup',
        () => {
          test.isAllowed = true;
          // The press comes a minute after the offer.
          performance.now = () => now() + 60_000;
          for (const context of test.contexts) context.dispatchEvent(new Event('statechange'));
        },
        true,
      );
      Object.defineProperty(AudioContext.prototype, 'state', { get: () => (test.isAllowed ? 'running' : 'suspended') });
      AudioContext.prototype.resume = function () {
        test.contexts.add(this);
        return allowed;
      };
      OscillatorNode.prototype.start = () => {
        test.tones += 1;
      };
    });
    const page = await openPage(profile, `${api.url}/dashboard/desk`);
    const allow = page.getByRole('button', { name: 'Press to allow sound' });
    await allow.waitFor();
    expect(await allow.getAttribute('aria-pressed')).to.equal('false');
    await offerOn(api.ctx, rideId);
    await summary(page, '1 ride needs you');
    await allow.click();
    await page.getByRole('button', { name: 'Sound for new offers', pressed: true }).waitFor();
    const tones = () => page.evaluate(() => (window as unknown as { test: { tones: number } }).test.tones);
    await page.waitForFunction(() => (window as unknown as { test: { tones: number } }).test.tones > 0);
    expect(await tones()).to.equal(2);
  });

  it('finds a ride in place, and closes the found rides again', async () => {
    const desk = await newDesk(api);
    await rideIn(api.ctx, 'completed', { ...desk.owner, ...named('Ada Lovelace'), reference: 'Room 412' });
    const page = await open(desk);
    await page.getByRole('searchbox').fill('412');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '1 ride with “412”' }).waitFor();
    await page.getByRole('link', { name: 'Same ride tomorrow' }).waitFor();
    expect(new URL(page.url()).search).to.equal('');
    await page.getByRole('link', { name: 'Close' }).click();
    expect(await page.locator('#found').innerText()).to.equal('');
    expect(page.complaints).to.deep.equal([]);
  });

  it("follows the rides after the service's clock was set back by an hour", async () => {
    const desk = await newDesk(api);
    const page = await open(desk);
    await setClockBack(page);
    await newRide(api.ctx, { ...desk.owner, ...named('Ada Lovelace') });
    await rideNamed(page, 'Ada Lovelace').waitFor();
  });

  it('says that the connection is lost, and continues when it is back', async () => {
    const desk = await newDesk(api);
    const page = await open(desk);
    await newRide(api.ctx, { ...desk.owner, ...named('Before') });
    await rideNamed(page, 'Before').waitFor();
    await page.route(
      ({ pathname }) => /\/desk\/(events|state)$/.test(pathname),
      (route) => route.fulfill({ status: 503, body: 'away' }),
    );
    await setHidden(page, true);
    await setHidden(page, false);
    await page.locator('#connection', { hasText: 'Connection lost' }).waitFor();
    await newRide(api.ctx, { ...desk.owner, ...named('While away') });
    await page.unrouteAll();
    await rideNamed(page, 'While away').waitFor({ timeout: scaled(60_000) });
    await page.locator('#connection').waitFor({ state: 'hidden' });
  }).timeout(120_000);

  it('a wall screen without a session leads to the sign-in page', async () => {
    const desk = await newDesk(api);
    const page = await open(desk, '?wall');
    await SessionModel.deleteMany({ accountId: desk.visitor.account._id });
    await page.waitForURL(/\/dashboard\?next=/);
  });

  /** Rides of every kind, with realistic texts. */
  async function fullDesk(): Promise<Desk> {
    const desk = await newDesk(api);
    const places = {
      pickup: { lat: 40.7128, lng: -74.006, address: 'Hotel Aurora, 12 Harbour Street' },
      destination: { lat: 40.758, lng: -73.9855, address: 'Airport, Terminal 2' },
    };
    const wish = (name: string, reference: string) => ({ ...desk.owner, ...places, ...named(name), reference });
    const pickupAt = (hours: number) => new Date(Date.now() + hours * 3_600_000);
    await newRide(api.ctx, { ...wish('Katherine Johnson', 'Room 7'), pickupAt: pickupAt(26) });
    await newRide(api.ctx, { ...wish('Alan Turing', 'Room 512'), pickupAt: pickupAt(2) });
    await rideIn(api.ctx, 'in_progress', wish('Edsger Dijkstra', 'Room 204'));
    await rideIn(api.ctx, 'arrived', wish('Barbara Liskov', 'Room 110'));
    await rideIn(api.ctx, 'driver_arriving', { ...wish('Donald Knuth', 'Room 301'), offers: [{ etaMinutes: 14 }] });
    await rideIn(api.ctx, 'driver_arriving', { ...wish('Margaret Hamilton', 'Room 411'), offers: [{ etaMinutes: 1 }] });
    await newRide(api.ctx, wish('Wilhelmina van Oosterhout-Featherstonehaugh', 'Group Nakatomi, suite 3000'));
    const lost = await rideIn(api.ctx, 'driver_arriving', wish('Grace Hopper', 'Room 118'));
    await applyAction(api.ctx, lost.rideId, { action: 'cancel', by: 'driver' }, 'anyone');
    await rideIn(api.ctx, 'bidding', {
      ...wish('Ada Lovelace', 'Room 412'),
      offers: [
        { price: 26, etaMinutes: 4, driver: newDriver({ vehicle: 'Toyota Prius', rating: 4.9 }) },
        {
          price: 22.5,
          etaMinutes: 11,
          driver: newDriver({ vehicle: 'Mercedes-Benz Vito Tourer, silver', rating: 4.7 }),
        },
      ],
    });
    api.ctx.now = () => Date.now() + 4 * 60_000;
    return desk;
  }

  it('has no serious finding of axe and fits phone and desktop, full and empty', async () => {
    const { visitor } = await fullDesk();
    const path = '/dashboard/desk';
    const question = async (page: Page) => {
      await page.getByRole('button', { name: 'Cancel ride' }).first().click();
      await page.getByRole('dialog').waitFor();
    };
    const looks: Look[] = [
      ['desk-board', path],
      ['desk-board-found', `${path}?find=Ada`],
      ['desk-board-cancel', path, question],
    ];
    await lookAt(api.url, looks, asVisitor(visitor));
    await lookAt(api.url, [['desk-board-empty', path]], asVisitor((await newDesk(api)).visitor));
  });

  it('is readable from two metres on a wall, in light and dark', async () => {
    const desk = await fullDesk();
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await open(desk, '?wall', { viewport: { width: 1920, height: 1080 }, colorScheme });
      await page.locator('.board-ride').first().waitFor();
      const smallest = await page.evaluate(() =>
        Math.min(
          ...[
            ...document.querySelectorAll<HTMLElement>('.board-ride p, .board-ride h4, .board-ride .pill, #board-news'),
          ]
            .filter((element) => element.checkVisibility())
            .map((element) => Number.parseFloat(getComputedStyle(element).fontSize)),
        ),
      );
      await page.setViewportSize({ width: 1280, height: 720 });
      await areClear(page, '#board-news', '#board-tools button');
      // A letter of 5.8 mm on a screen of 24 inches.
      expect(smallest).to.be.at.least(21);
      expect(await seriousFindings(page)).to.deep.equal([]);
      expect(page.complaints).to.deep.equal([]);
    }
  });

  it("a receipt is one page on paper, with its times on the pickup's clocks", async () => {
    const desk = await newDesk(api);
    const { rideId } = await rideIn(api.ctx, 'completed', { ...desk.owner, ...named('Ada Lovelace') });
    const url = `${api.url}/dashboard/rides/${rideId}/receipt`;
    const page = await openAs(desk.visitor, url, { timezoneId: 'Asia/Kolkata' });
    const { statusAt } = await storedRide(rideId);
    const end = statusAt.toLocaleTimeString('en-US', { timeZone: 'America/New_York', timeStyle: 'short' });
    await page
      .getByText(new RegExp(`, ${end} \\(Eastern`))
      .first()
      .waitFor();
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('button', { name: 'Print' }).isVisible()).to.equal(false);
    const pdf = await page.pdf({ format: 'Letter' });
    expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)).to.have.length(1);
  });
});
