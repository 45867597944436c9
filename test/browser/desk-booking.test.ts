import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { readDesk } from '../../shared/accounts/desk.ts';
import { rides } from '../../shared/rides/ride.ts';
import { signedIn } from '../support/dashboard.ts';
import { answerByPath, useGeocoder } from '../support/operator-server.ts';
import { deskPath, useTestDesk } from '../support/test-desk.ts';
import { until } from '../support/until.ts';
import { asVisitor, openAs } from './as-visitor.ts';
import { type Look, lookAround, lookAt } from './browser.ts';

describe('the desk in a browser', () => {
  const geocoder = useGeocoder();
  const { api, visitor, book } = useTestDesk(() => ({ GEOCODER_URL: `${geocoder.origin}/search` }));
  beforeEach(() => geocoder.answerWith(answerByPath));

  const deskUrl = () => api.url + deskPath;
  const open = async (options: BrowserContextOptions = {}, url = deskUrl()) => openAs(visitor, url, options);
  const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });
  const focusedName = (page: Page) => page.evaluate(() => (document.activeElement as HTMLInputElement).name);
  const lastRide = () => rides.findOne({ accountId: visitor.account._id }, { sort: { _id: -1 } });
  const phone = { viewport: { width: 360, height: 740 } };

  /** Types into the focused field, after Tab has reached it. */
  async function fill(page: Page, name: string, text: string): Promise<void> {
    while ((await focusedName(page)) !== name) await page.keyboard.press('Tab');
    await page.keyboard.type(text);
  }

  it('a person books by keyboard only, with the default pickup and a saved destination', async () => {
    const page = await open();
    const { keyboard } = page;
    expect(await focusedName(page)).to.equal('from');
    await keyboard.press('Tab');
    await keyboard.type('penn');
    await page.getByRole('option', { name: 'Penn Station', exact: true }).waitFor();
    // Tab takes the marked place and goes on.
    await fill(page, 'passenger', 'Ada Lovelace');
    await fill(page, 'phone', '+1 202 555 0100');
    await fill(page, 'reference', 'Room 1204');
    await keyboard.press('Tab');
    await page.locator('#fare-words', { hasText: 'sample for test rides' }).waitFor();
    await keyboard.type('24.50');
    await keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'Booked' }).waitFor();
    expect(await focusedName(page)).to.equal('from');
    expect(await field(page, 'From').inputValue()).to.equal('Grand Hotel');
    for (const name of ['To', 'Passenger', 'Phone', 'Reference', 'Fare']) {
      expect(await field(page, name).inputValue(), name).to.equal('');
    }
    expect(await lastRide()).to.deep.include({
      pickup: { lat: 40.7128, lng: -74.006, address: 'Grand Hotel, 1 Main Street' },
      destination: { lat: 40.7506, lng: -73.9935, address: 'Penn Station' },
      passenger: { name: 'Ada Lovelace', phone: '+1 202 555 0100' },
      ...{ reference: 'Room 1204', fare: 24.5 },
    });
    expect(page.complaints).to.deep.equal([]);
  });

  it('the fields of the form have their names, in the order in which Tab reaches them', async () => {
    const page = await open();
    const names = [
      ...['From', 'To', 'When', 'Passenger', 'Phone', 'Notes', 'Car', 'Seats', 'Needs', 'More', 'Reference', 'Fare'],
    ];
    const reached: string[] = [];
    for (let step = 0; step < names.length; step++) {
      reached.push(
        await page.evaluate(() => {
          const element = document.activeElement as HTMLInputElement;
          return element.labels?.[0]?.textContent ?? element.textContent ?? '';
        }),
      );
      await page.keyboard.press('Tab');
    }
    expect(reached).to.deep.equal(names);
  });

  it('the address search fills in a found address, with its attribution, and the ride goes there', async () => {
    const page = await open(phone);
    await fill(page, 'to', 'eighth avenue');
    const found = page.getByRole('option', { name: /^Penn Station, 8th Avenue/ });
    await found.waitFor();
    expect(await page.getByText('© OpenStreetMap contributors').isVisible()).to.equal(true);
    expect(await field(page, 'To').getAttribute('aria-activedescendant')).to.equal(await found.getAttribute('id'));
    await lookAround('desk-search', page);
    await page.keyboard.press('Enter');
    expect(await field(page, 'To').inputValue()).to.match(/^Penn Station, 8th Avenue/);
    await fill(page, 'fare', '20');
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'Booked' }).waitFor();
    const ride = await lastRide();
    expect(ride?.destination).to.include({ lat: 40.7506, lng: -73.9935 });
    expect(ride?.destination.address).to.match(/^Penn Station, 8th Avenue/);
  });

  it('a point on the map is chosen by keyboard, without tiles', async () => {
    const page = await open();
    await fill(page, 'to', '');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Choose on the map' });
    await dialog.waitFor();
    const at = () => dialog.locator('output').textContent();
    const start = await at();
    expect(start).to.equal('40.7128, -74.006');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Shift+ArrowUp');
    const [lat = 0, lng = 0] = ((await at()) ?? '').split(',').map(Number);
    expect(lat).to.be.above(40.7128);
    expect(lng).to.be.above(-74.006);
    await lookAround('desk-map', page);
    const moved = await at();
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    // The page fills the field shortly after the dialog has closed.
    await until(async () => (await field(page, 'To').inputValue()) === moved);
    expect(await focusedName(page)).to.equal('to');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await field(page, 'To').inputValue()).to.equal(moved);
    expect(page.complaints).to.deep.equal([]);
  });

  it('a ride for later is booked on the clock of the browser, and the form shows the clock of the pickup', async () => {
    const page = await open({ timezoneId: 'Asia/Kolkata' });
    expect(await field(page, 'Pickup time').isVisible()).to.equal(false);
    await field(page, 'When').selectOption('Later');
    const day = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
    await field(page, 'Pickup time').fill(`${day}T09:15`);
    const otherClock = page.getByText(/^At the pickup: .*1[01]:45 PM \(Eastern \w+ Time\)\.$/);
    await otherClock.waitFor();
    await field(page, 'To').fill('Penn Station');
    await field(page, 'Fare').fill('ten');
    await page.keyboard.press('Enter');
    await page.getByText('Not booked yet').waitFor();
    expect(await field(page, 'Pickup time').inputValue()).to.equal(`${day}T09:15`);
    expect(await otherClock.isVisible()).to.equal(true);
    expect(await focusedName(page)).to.equal('fare');
    await field(page, 'Fare').fill('20');
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'Booked' }).waitFor();
    expect((await lastRide())?.pickupAt).to.deep.equal(new Date(`${day}T03:45:00Z`));
  });

  it('a place is saved with a point of the address search', async () => {
    const page = await open({}, `${deskUrl()}/places`);
    await field(page, 'Name').fill('Office');
    await field(page, 'Position').pressSequentially('eighth');
    await page.getByRole('option', { name: /^Penn Station, 8th Avenue/ }).click();
    await page.getByRole('button', { name: 'Add place' }).click();
    await page.getByRole('cell', { name: 'Office', exact: true }).waitFor();
    const { places } = await readDesk(visitor.account._id);
    expect(places.find(({ name }) => name === 'Office')).to.include({ lat: 40.7506, lng: -73.9935 });
  });

  it('the desk and its other pages pass layout and accessibility checks', async () => {
    const submit = (page: Page) => page.getByRole('button', { name: 'Book ride' }).click();
    const faulty = async (page: Page) => {
      await field(page, 'To').fill('Somewhere');
      await field(page, 'Fare').fill('ten');
      await submit(page);
      await page.getByText('Not booked yet').waitFor();
    };
    const elsewhere = async (page: Page) => {
      await field(page, 'From').fill('52.52, 13.405');
      await field(page, 'When').selectOption('Later');
      await page.getByText(/^At the pickup/).waitFor();
    };
    const doubtful = async (page: Page) => {
      await field(page, 'To').fill('-78.8784, 42.8864');
      await field(page, 'Fare').fill('200');
      await submit(page);
      await page.getByText('Please check this').waitFor();
    };
    const rideId = await book({ passenger: 'Ada Lovelace', need_pet: 'yes' });
    const looks: Look[] = [
      ['desk', deskPath],
      ['desk-booked', `${deskPath}?booked=${rideId}`],
      ['desk-tomorrow', `${deskPath}?tomorrow=${rideId}`],
      ['desk-faults', deskPath, faulty],
      ['desk-clocks', deskPath, elsewhere],
      ['desk-doubts', deskPath, doubtful],
    ];
    await lookAt(api.url, looks, asVisitor(visitor));
    const empty: Look[] = [
      ['desk-no-key', deskPath],
      ['desk-no-places', `${deskPath}/places`],
    ];
    await lookAt(api.url, empty, asVisitor(await signedIn(api)));
  });
});
