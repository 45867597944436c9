import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { addPlace } from '../../shared/accounts/desk.ts';
import { rides } from '../../shared/rides/ride.ts';
import { newFormId } from '../support/dashboard.ts';
import { answerByPath, useGeocoder } from '../support/operator-server.ts';
import { deskPath, useTestDesk } from '../support/test-desk.ts';
import { asVisitor, openAs } from './as-visitor.ts';
import { lookAround, openPage, openProfile } from './browser.ts';

describe('typing at the desk in a browser', () => {
  const geocoder = useGeocoder();
  const { api, visitor, book } = useTestDesk(() => ({ GEOCODER_URL: `${geocoder.origin}/search` }));
  beforeEach(() => geocoder.answerWith(answerByPath));

  const deskUrl = () => api.url + deskPath;
  const open = (options: BrowserContextOptions = {}, query = '') => openAs(visitor, deskUrl() + query, options);
  const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });
  const bookedRides = () => rides.countDocuments({ accountId: visitor.account._id });

  /** Holds the answers of the address search until the returned function is called. */
  function holdAnswers(): () => void {
    const held: (() => void)[] = [];
    geocoder.answerWith((request, response) => void held.push(() => answerByPath(request, response)));
    return () => {
      geocoder.answerWith(answerByPath);
      for (const answer of held.splice(0)) answer();
    };
  }
  const searchStarts = (page: Page) => page.waitForRequest((request) => request.url().endsWith('/desk/search'));

  const expectMarked = async (page: Page, marked: string) =>
    expect(await page.locator('[role="option"][aria-selected="true"]').allTextContents()).to.deep.equal([marked]);

  it('the place that a person has marked with an arrow key stays marked when the search answers', async () => {
    await addPlace(visitor.account._id, newFormId(), { name: 'Penn Station, taxi rank', lat: 40.7501, lng: -73.9931 });
    const answer = holdAnswers();
    const page = await open();
    const searching = searchStarts(page);
    await field(page, 'To').pressSequentially('penn');
    await page.keyboard.press('ArrowDown');
    await searching;
    await expectMarked(page, 'Penn Station, taxi rank');
    answer();
    await page.getByRole('option', { name: 'Newark Penn Station' }).waitFor();
    await expectMarked(page, 'Penn Station, taxi rank');
    await page.keyboard.press('Enter');
    expect(await field(page, 'To').inputValue()).to.equal('Penn Station, taxi rank');
    expect(await page.locator('[name="toPoint"]').inputValue()).to.match(/^place_\w+ Penn Station, taxi rank$/);
  });

  it('a text that is left before the search answers is marked, and the field offers the addresses later', async () => {
    const answer = holdAnswers();
    const page = await open();
    const searching = searchStarts(page);
    await field(page, 'To').pressSequentially('eighth');
    await page.keyboard.press('Tab');
    await page.getByText('Choose a place from the list', { exact: true }).waitFor();
    expect(await field(page, 'To').getAttribute('aria-invalid')).to.equal('true');
    await searching;
    answer();
    await page.getByText('2 addresses found: choose one', { exact: true }).waitFor();
    await page.keyboard.press('Shift+Tab');
    await page.getByRole('option', { name: 'Newark Penn Station' }).waitFor();
    expect(await field(page, 'To').getAttribute('aria-activedescendant')).to.equal(null);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await field(page, 'To').inputValue()).to.match(/^Penn Station, 8th Avenue/);
    expect(await field(page, 'To').getAttribute('aria-invalid')).to.equal(null);
    expect(await page.locator('.place-mark').allTextContents()).to.deep.equal(['', '']);
    expect(page.complaints).to.deep.equal([]);
  });

  it('Enter in a text that is no place yet sends nothing, says what to do, and searches it', async () => {
    const page = await open();
    const sent: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && sent.push(new URL(request.url()).pathname));
    await field(page, 'To').fill('eighth');
    await page.keyboard.press('Enter');
    await page.getByRole('option', { name: 'Newark Penn Station' }).waitFor();
    expect(await page.locator('.place-mark', { hasText: 'Choose a place from the list' }).count()).to.equal(1);
    await lookAround('desk-unresolved', page);
    expect(sent).not.to.include(deskPath);
  });

  it('an arrow key starts a failed search again', async () => {
    geocoder.answerWith((_, response) => void response.writeHead(500).end());
    const page = await open();
    await field(page, 'To').pressSequentially('eighth');
    await page.getByText('The address search does not answer').waitFor();
    geocoder.answerWith(answerByPath);
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option', { name: 'Newark Penn Station' }).waitFor();
  });

  it('a form whose answer was lost keeps its entries, says so, and books one ride when it is sent again', async () => {
    const page = await open();
    await page.route(deskUrl(), async (route) => {
      // The service refuses forms without this header, which the copy of the request lacks.
      const headers = { ...route.request().headers(), 'sec-fetch-site': 'same-origin' };
      expect((await route.fetch({ headers, maxRedirects: 0 })).status()).to.equal(303);
      await route.abort();
    });
    await field(page, 'To').fill('Penn Station');
    await field(page, 'Passenger').fill('Ada Lovelace');
    await field(page, 'Fare').fill('20');
    await page.getByRole('button', { name: 'Book ride' }).click();
    const lost = page.getByRole('alert').filter({ hasText: 'The service cannot be reached' });
    await lost.waitFor();
    expect(await bookedRides()).to.equal(1);
    expect(await field(page, 'Passenger').inputValue()).to.equal('Ada Lovelace');
    page.complaints.length = 0;
    await lookAround('desk-lost', page);
    await page.unroute(deskUrl());
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'Booked' }).waitFor();
    expect(await bookedRides()).to.equal(1);
    expect(new URL(page.url()).search).to.match(/^\?booked=ride_/);
    expect(await field(page, 'Passenger').inputValue()).to.equal('');
    await field(page, 'To').fill('Penn Station');
    await field(page, 'Fare').fill('20');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.search.startsWith('?booked=ride_'));
    await page.waitForFunction(() => (document.querySelector('#to') as HTMLInputElement).value === '');
    expect(await bookedRides()).to.equal(2);
  });

  it('a form of a desk that books with another key in the meantime is answered with the whole page', async () => {
    const page = await open();
    const live = await visitor.newKey('live');
    // The page reloads itself when the key changes, unless a person has typed.
    await field(page, 'To').fill('Penn Station');
    await field(page, 'Fare').fill('20');
    await visitor.post(`${deskPath}/settings`, { key: live.keyId });
    await page.keyboard.press('Enter');
    await page.getByText('another key than before').waitFor();
    expect(await page.getByText('Test data').count()).to.equal(0);
    expect(await bookedRides()).to.equal(0);
  });

  it('a repeated ride, and the same ride tomorrow, keep their pickup time on the clock of the browser', async () => {
    const local = (time: Date) => new Date(time.getTime() + 5.5 * 3_600_000).toISOString().slice(0, 16);
    const at = new Date(Date.now() + 3 * 3_600_000);
    const later = await book({ when: 'later', pickupTime: at.toISOString().slice(0, 16) });
    const page = await open({ timezoneId: 'Asia/Kolkata' }, `?repeat=${later}`);
    expect(await field(page, 'Pickup time').inputValue()).to.equal(local(at));
    const now = await book();
    const created = (await rides.findOne({ _id: now }))?.createdAt.getTime() ?? 0;
    await page.goto(`${deskUrl()}?tomorrow=${now}`);
    expect(await field(page, 'Pickup time').inputValue()).to.equal(local(new Date(created + 86_400_000)));
  });

  it('the form suggests no time that its field cannot name, because the clocks show it twice', async () => {
    const profile = await openProfile(asVisitor(visitor));
    await profile.clock.setFixedTime('2026-11-01T01:10:00-04:00');
    const page = await openPage(profile, deskUrl());
    await field(page, 'When').selectOption('Later');
    expect(await field(page, 'Pickup time').inputValue()).to.equal('2026-11-01T02:00');
  });

  it('tomorrow is the next day also on a day of 25 hours', async () => {
    const profile = await openProfile(asVisitor(visitor));
    await profile.clock.setFixedTime('2026-11-01T00:30:00-04:00');
    const page = await openPage(profile, `${deskUrl()}?tomorrow=${await book()}`);
    expect(await field(page, 'Pickup time').inputValue()).to.match(/^2026-11-02T/);
  });
});
