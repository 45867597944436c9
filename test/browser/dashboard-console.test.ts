import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { SessionModel } from '../../shared/accounts/session.ts';
import type { NewKey } from '../../shared/keys/manage-keys.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import type { Command } from '../../shared/rides/decide.ts';
import { signatureHeader } from '../../shared/webhooks/sign.ts';
import { signedIn, useVisitor } from '../support/dashboard.ts';
import { useReceiver } from '../support/receiver.ts';
import { newRide, offerOn } from '../support/rides.ts';
import { storedRide } from '../support/stored-rides.ts';
import { until } from '../support/until.ts';
import { useTestService } from '../support/workers.ts';
import { asVisitor, openAs } from './as-visitor.ts';
import { type Look, lookAround, lookAt, openPage, openProfile } from './browser.ts';

describe('the test console in a browser', () => {
  const receiver = useReceiver();
  const api = useTestService(() => ({ WEBHOOK_LOCAL_TARGETS: receiver.origin, MAX_STREAMS_PER_CLIENT: '100' }));
  const visitor = useVisitor(api);
  let key: NewKey;
  beforeEach(async () => {
    key = await visitor.newKey('test', 'Front desk', receiver.url);
  });

  const consoleUrl = () => `${api.url}/dashboard/console`;
  const open = (url = consoleUrl(), options?: BrowserContextOptions) => openAs(visitor, url, options);

  /** Starts a ride on the page. Resolves with the ride's id. */
  async function start(page: Page, scenario: string): Promise<string> {
    await page.locator(`input[name=scenario][value="${scenario}"]`).check();
    await page.getByRole('button', { name: 'Start a test ride' }).click();
    await page.waitForURL(/\/console\/ride_/);
    return page.url().split('/').at(-1) ?? '';
  }
  const newTestRide = (keyId: string) =>
    newRide(api.ctx, { accountId: visitor.account._id, keyId, mode: 'test', scenario: 'no_offers' });
  const entry = (page: Page, words: string | RegExp) => page.locator('.timeline .entry strong', { hasText: words });
  const accept = (page: Page) => page.getByRole('button', { name: /^Accept/ });
  const cancel = (page: Page) => page.getByRole('button', { name: 'Cancel ride' });

  it('a place is chosen on the map, and the request shows it without the address of the former place', async () => {
    const page = await open();
    const pickup = page.getByRole('group', { name: 'Pickup' });
    await pickup.getByRole('button', { name: 'Choose on the map' }).click();
    const dialog = page.getByRole('dialog', { name: 'Choose on the map' });
    expect(await dialog.locator('output').textContent()).to.equal('57.6997, 11.9523');
    await page.keyboard.press('Shift+ArrowRight');
    const [lat, lng] = ((await dialog.locator('output').textContent()) ?? '').split(', ');
    await lookAround('console-map', page);
    await page.keyboard.press('Enter');
    await page.locator('#request code', { hasText: `"lng": ${lng}` }).waitFor();
    expect(await pickup.getByLabel('Latitude').inputValue()).to.equal(lat);
    expect(await pickup.getByLabel('Address').inputValue()).to.equal('');
    expect(page.complaints).to.deep.equal([]);
  });

  it('the console starts a ride and shows it to its end, with the answer to each event', async () => {
    const page = await open();
    await page.getByLabel('Fare in USD').fill('31.40');
    expect(await page.locator('#request code').last().textContent()).to.include('"fare": 31.4');
    await start(page, 'default');
    await entry(page, 'Offer received').waitFor();
    expect(await page.locator('#said').textContent()).to.match(/^Offer received: .+, \$31\.40/);
    await page.locator('#ride-map[data-car*=","]').waitFor();
    for (const words of ['Offer accepted', 'Driver at the pickup', 'Trip under way', 'Trip completed']) {
      await entry(page, words).waitFor();
    }
    await page.locator('.timeline .attempt .pill[data-status="delivered"]').nth(4).waitFor();
    await page
      .locator('.timeline .attempt .hint', { hasText: /^200 · \d+(\.\d)? ms/ })
      .nth(4)
      .waitFor();
    expect(await cancel(page).count()).to.equal(0);
    expect(page.complaints).to.deep.equal([]);
  }).timeout(90_000);

  it('the focus stays on a button during updates, and moves to the offers when the button disappears', async () => {
    const page = await open();
    const rideId = await start(page, 'no_offers');
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await offerOn(api.ctx, rideId, { price: 40 });
    await accept(page).focus();
    const { offerId } = await offerOn(api.ctx, rideId, { price: 30 });
    await accept(page).nth(1).waitFor();
    expect(await focused()).to.include('$40.00');
    // Every open page of this ride shows the possible steps automatically.
    const onlooker = await open(page.url());
    await applyAction(api.ctx, rideId, { action: 'accept', offerId }, 'anyone');
    await entry(page, 'Offer accepted').waitFor();
    expect(await focused()).to.equal('2 offers');
    await onlooker.getByRole('button', { name: 'Arrive at the pickup' }).waitFor();
  });

  it('shows Start and the possible steps on a phone without scrolling', async () => {
    const size = { width: 360, height: 740 };
    const page = await open(consoleUrl(), { viewport: size, hasTouch: true });
    const button = (name: string) => page.getByRole('button', { name });
    const bottomOf = async (name: string) => {
      const box = await button(name).boundingBox();
      return box ? box.y + box.height : Number.POSITIVE_INFINITY;
    };
    expect(await bottomOf('Start a test ride')).to.be.at.most(size.height);
    const rideId = await start(page, 'no_offers');
    for (const name of ['Cancel ride', 'Make an offer', 'Let the time run out']) {
      expect(await bottomOf(name), name).to.be.at.most(size.height);
    }
    const { offerId } = await offerOn(api.ctx, rideId, { price: 30 });
    await applyAction(api.ctx, rideId, { action: 'accept', offerId }, 'anyone');
    await button('Arrive at the pickup').waitFor();
    for (const name of ['Arrive at the pickup', 'Cancel as the driver']) {
      expect(await bottomOf(name), name).to.be.at.most(size.height);
    }
  }).timeout(60_000);

  it('when the session ends, the page redirects to the sign-in page, and back afterwards', async () => {
    const page = await open();
    const rideId = await start(page, 'no_offers');
    const isSignIn = (url: string) => new URL(url).searchParams.get('next') === `/dashboard/console/${rideId}`;
    const signIn = page.waitForRequest((request) => isSignIn(request.url()));
    await SessionModel.deleteMany({ accountId: visitor.account._id });
    await signIn;
    await page.getByLabel('E-mail').waitFor();
  }).timeout(60_000);

  it('the form and a ride at each step pass layout and accessibility checks', async () => {
    const path = '/dashboard/console';
    await lookAt(api.url, [['console-no-key', path]], asVisitor(await signedIn(api)));
    const fault = async (page: Page) => {
      await page.getByRole('group', { name: 'Pickup' }).getByLabel('Latitude').fill('north');
      await page.getByLabel('Fare in USD').fill('0');
      await page.getByRole('button', { name: 'Start a test ride' }).click();
      await page.waitForSelector('.fault-summary');
    };
    const settled = (rideId: string) => until(async () => (await storedRide(rideId)).unsettled === 0);
    const act =
      (rideId: string, ...commands: Command[]) =>
      async (page: Page) => {
        for (const command of commands) await applyAction(api.ctx, rideId, command, 'anyone');
        await settled(rideId);
        await page.reload();
      };
    const [offered, cancelled, silent] = [
      await newTestRide(key.keyId),
      await newTestRide(key.keyId),
      await newTestRide((await visitor.newKey('test', 'No URL')).keyId),
    ];
    for (const price of [24.5, 22, 31]) await offerOn(api.ctx, offered, { price });
    await offerOn(api.ctx, silent);
    await settled(offered);
    const { offerId } = (await storedRide(offered)).offers[1] ?? { offerId: '' };
    const looks: Look[] = [
      ['console-faults', path, fault],
      ['console-requested', `${path}/${cancelled}`],
      ['console-offers', `${path}/${offered}`],
      ['console-by-hand', `${path}/${offered}`, act(offered, { action: 'accept', offerId })],
      [
        'console-completed',
        `${path}/${offered}`,
        act(offered, { action: 'arrive' }, { action: 'start' }, { action: 'complete' }),
      ],
      ['console-cancelled', `${path}/${cancelled}`, act(cancelled, { action: 'cancel', by: 'partner' })],
      ['console-no-url', `${path}/${silent}`, act(silent, { action: 'cancel', by: 'driver' })],
    ];
    await lookAt(api.url, looks, asVisitor(visitor));
  });

  const signatureUrl = () => `${api.url}/dashboard/signature`;
  const body = '{"event":"ride.status","fare":12.5}';
  const headerOf = (text = body, ageSeconds = 0) =>
    signatureHeader(key.signingSecret, text, Math.floor(Date.now() / 1_000) - ageSeconds);

  async function check(page: Page, pasted: { header?: string; body?: string; secret?: string } = {}): Promise<string> {
    await page.getByLabel('Header').fill(pasted.header ?? headerOf());
    await page.getByLabel('Raw body').fill(pasted.body ?? body);
    await page.getByLabel('Signing secret').fill(pasted.secret ?? key.signingSecret);
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.locator('#result').waitFor();
    return (await page.locator('#result').textContent()) ?? '';
  }

  it('the check sends nothing, and restores no secret after Back or a reload', async () => {
    const page = await open(signatureUrl());
    const requests: string[] = [];
    page.on('request', (request) => requests.push(`${request.url()} ${request.postData()}`));
    const sent = () => requests.filter((request) => !request.includes('/assets/'));
    await check(page);
    await page.getByLabel('Signing secret').press('Enter');
    expect(sent()).to.deep.equal([]);
    expect(page.url()).to.equal(signatureUrl());
    await page.reload();
    expect(await page.getByLabel('Signing secret').inputValue()).to.equal('');
    await page.getByLabel('Signing secret').fill(key.signingSecret);
    await page.goto(consoleUrl());
    await page.goBack();
    expect(await page.getByLabel('Signing secret').inputValue()).to.equal('');
    expect(requests.join()).not.to.include(key.signingSecret);
  });

  it('the page reports a browser without cryptography', async () => {
    const context = await openProfile(asVisitor(visitor));
    await context.addInitScript(() => Object.defineProperty(globalThis, 'isSecureContext', { value: false }));
    const page = await openPage(context, signatureUrl());
    await page.getByText('only on pages that were loaded over https').waitFor();
    expect(await page.getByRole('button', { name: 'Check', exact: true }).isVisible()).to.equal(false);
  });

  it('a valid and a wrong check get the focus, and pass layout and accessibility checks', async () => {
    const focused = (page: Page) => page.evaluate(() => document.activeElement?.id);
    const valid = async (page: Page) => {
      expect(await check(page)).to.match(/^Valid.*Made (just now|\d+ s ago)/);
      expect(await focused(page)).to.equal('result');
    };
    const wrong = async (page: Page) => {
      const secret = key.signingSecret.replace('whsec_', '');
      await check(page, { header: headerOf(body, 500), body: `\uFEFF${body}`, secret });
      expect(await focused(page)).to.equal('result');
    };
    const looks: Look[] = [
      ['signature-valid', '/dashboard/signature', valid],
      ['signature-wrong', '/dashboard/signature', wrong],
    ];
    await lookAt(api.url, looks, asVisitor(visitor));
  });
});
