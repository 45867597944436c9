import { expect } from 'chai';
import type { BrowserContextOptions } from 'playwright-core';
import { audit, commandLine } from '../../shared/accounts/audit.ts';
import type { Mode } from '../../shared/base/terms.ts';
import { createKey } from '../../shared/keys/manage-keys.ts';
import { suspendAccount } from '../../shared/keys/suspend-account.ts';
import { eraseRide } from '../../shared/retention/erase-rides.ts';
import { applyAction } from '../../shared/rides/change-ride.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Delivery, RideStatus } from '../../shared/rides/ride-types.ts';
import { type AttemptRecord, attempts } from '../../shared/webhooks/attempts.ts';
import { attemptRecord } from '../support/attempts.ts';
import { signedIn, type Visitor } from '../support/dashboard.ts';
import { useReceiver } from '../support/receiver.ts';
import { newDriver, type RideWish, rideIn } from '../support/rides.ts';
import { useTestApi } from '../support/service.ts';
import { storedRide } from '../support/stored-rides.ts';
import { until } from '../support/until.ts';
import { useTestService } from '../support/workers.ts';
import { closeProfiles, lookAt, openPage, openProfile } from './browser.ts';

const timesSquare = { lat: 40.758, lng: -73.9855, address: 'Times Square, New York' };
const cityHall = { lat: 40.7128, lng: -74.006, address: 'City Hall, New York' };
/** A new driver for each ride, because a driver drives one ride at a time. */
const dana = () => newDriver({ name: 'Dana Okoye', vehicle: 'Toyota Prius, blue', plate: 'TST 1043' });
const alex = () => newDriver({ name: 'Alex Rivera', vehicle: 'Kia Niro, white', plate: 'TST 1091' });

/** A browser in which the visitor has signed in. */
const asVisitor = ({ cookie }: Visitor, options: BrowserContextOptions = {}): BrowserContextOptions => {
  const [name = '', value = ''] = cookie.split('=');
  const flags = { httpOnly: true, secure: false, sameSite: 'Lax' } as const;
  const stored = { name, value, domain: '127.0.0.1', path: '/', expires: -1, ...flags };
  return { ...options, storageState: { cookies: [stored], origins: [] } };
};

describe('the pages of rides and deliveries', () => {
  // No workers run, so every delivery stays as the test has stored it.
  const api = useTestApi();
  afterEach(closeProfiles);

  const newKey = ({ account }: Visitor, name: string, mode: Mode = 'live') =>
    createKey(api.ctx.config, { accountId: account._id, name, mode });

  type Outcome = Partial<AttemptRecord> & { outcome: Delivery['outcome'] };

  /** Stores a ride whose events have these outcomes, with the records of the attempts. */
  async function rideWith(
    visitor: Visitor,
    keyId: string,
    status: RideStatus,
    outcomes: Outcome[],
    wish: RideWish = {},
  ) {
    const { account } = visitor;
    const places = { pickup: timesSquare, destination: cityHall, fare: 24.5, notes: 'Ring twice at the side door' };
    const offers = [
      { driver: dana(), price: 24.5, etaMinutes: 4 },
      { driver: alex(), price: 31, etaMinutes: 2 },
    ];
    const made = { keyId, accountId: account._id, offers, ...places, ...wish };
    const { rideId } = await rideIn(api.ctx, status, made);
    const { events, mode } = await storedRide(rideId);
    for (const [index, outcome] of outcomes.entries()) {
      const event = events[index];
      if (!event) throw new Error('more outcomes than events');
      const { seq, body, at } = event;
      const attempt = attemptRecord({
        ...{ accountId: account._id, keyId, mode, rideId, seq, at, body, event: event.event },
        url: 'https://partner.example/hooks/rides',
        address: '198.51.100.7',
        headers: headersOf(event.event, seq),
        phases: { dns: 3.2, connect: 18.4, tls: 41.7, write: 0.2, answer: 84.1 },
        durationMs: 148,
        answer: '{"ok":true}',
        ...outcome,
      });
      await attempts.insertOne(attempt, { ignoreUndefined: true });
      const { httpStatus, reason, url, durationMs = 0 } = attempt;
      const delivery = { outcome: outcome.outcome, durationMs, at, url, httpStatus, reason };
      await rides.updateOne(
        { _id: rideId },
        { $set: { [`events.${index}.delivery`]: JSON.parse(JSON.stringify(delivery)), settledSeq: seq } },
      );
      await rides.updateOne({ _id: rideId }, { $set: { [`events.${index}.delivery.at`]: at } });
    }
    await rides.updateOne({ _id: rideId }, { $set: { unsettled: 0 } });
    return rideId;
  }

  const headersOf = (event: string, seq: number) => ({
    Host: 'partner.example',
    Connection: 'close',
    'User-Agent': 'RidePartner-Webhooks/1',
    'X-Service-Event': event,
    'X-Service-Signature': `t=1795300000,v1=${'5f3a'.repeat(16)}`,
    'X-Service-Event-Id': `evt_0WXyZabcdEFGHijklMNOPqr_${seq}`,
    'X-Service-Sequence': String(seq),
    'Content-Type': 'application/json',
    'Content-Length': '412',
  });
  const nothing = { headers: undefined, answer: undefined, httpStatus: undefined, phases: undefined };
  const states = {
    delivered: { outcome: 'delivered' },
    failed: {
      outcome: 'failed',
      reason: 'status',
      httpStatus: 503,
      answer: '<html>\n<h1>Service Unavailable</h1>\n</html>',
    },
    timeout: {
      outcome: 'timeout',
      reason: 'answer',
      ...{ answer: undefined, httpStatus: undefined, durationMs: 8_000 },
      phases: { dns: 3.2, connect: 18.4, tls: 41.7, write: 0.2, answer: 7_936 },
    },
    blocked: { outcome: 'blocked', reason: 'private_address', ...nothing, address: undefined, durationMs: 4 },
    no_url: { outcome: 'no_url', ...nothing, url: undefined, address: undefined, durationMs: 0 },
  } satisfies Record<string, Outcome>;

  it('full, empty and unmatched lists pass layout and accessibility checks', async () => {
    const visitor = await signedIn(api, 'front.desk@grand-hotel.example');
    const look = (name: string, path: string) =>
      lookAt(`dashboard-rides-${name}`, `${api.url}/dashboard${path}`, {
        options: asVisitor(visitor),
        fullPage: true,
      });
    await look('empty', '/rides');
    await look('deliveries-empty', '/deliveries');
    const [desk, ward] = [await newKey(visitor, 'Front desk'), await newKey(visitor, 'Night ward, building 4', 'test')];
    const { delivered, failed, timeout, blocked, no_url } = states;
    for (const status of ['bidding', 'driver_arriving', 'arrived', 'in_progress', 'cancelled'] as const) {
      await rideWith(visitor, desk.keyId, status, [delivered, delivered]);
    }
    await rideWith(visitor, ward.keyId, 'completed', [delivered, failed, timeout], { mode: 'test', fare: 1_234.5 });
    const rideId = await rideWith(visitor, desk.keyId, 'completed', [delivered, blocked, failed, timeout, no_url]);
    await attempts.insertOne(
      attemptRecord({
        ...{ accountId: visitor.account._id, keyId: desk.keyId, kind: 'test', rideId: undefined, seq: undefined },
        ...{ outcome: 'waiting', ...nothing, durationMs: undefined, address: undefined, body: undefined },
      }),
      { ignoreUndefined: true },
    );
    await look('list', '/rides');
    await look('filtered-to-nothing', `/rides?key=${desk.keyId}&to=2020-01-01`);
    await look('faults', '/rides?from=yesterday');
    await look('unknown-id', '/rides?id=ride_of_somebody');
    await look('ride', `/rides/${rideId}`);
    for (const entry of ['created', 'event-3', 'delivery-1', 'delivery-5', 'delivery-6']) {
      await look(`ride-${entry}`, `/rides/${rideId}?entry=${entry}`);
    }
    await look('deliveries', '/deliveries');
    await look('deliveries-sent', '/deliveries?sent=12');
    for (const outcome of ['failed', 'waiting'] as const) {
      const attempt = await attempts.findOne({ accountId: visitor.account._id, outcome });
      await look(`delivery-${outcome}`, `/deliveries/${attempt?._id}`);
    }
  }).timeout(300_000);

  it('an erased ride and a suspended account pass layout and accessibility checks', async () => {
    const visitor = await signedIn(api, 'night.desk@grand-hotel.example');
    const { account } = visitor;
    const options = asVisitor(visitor);
    const look = (name: string, path: string) =>
      lookAt(`dashboard-${name}`, `${api.url}/dashboard${path}`, { options, fullPage: true });
    const { keyId } = await newKey(visitor, 'Front desk');
    const rideId = await rideWith(visitor, keyId, 'completed', Array(6).fill(states.delivered));
    await eraseRide(rideId);
    await look('ride-erased', `/rides/${rideId}`);
    await look('ride-erased-created', `/rides/${rideId}?entry=created`);
    await look('ride-erased-delivery', `/rides/${rideId}?entry=delivery-3`);
    await suspendAccount(account._id);
    const noted = { accountId: account._id, from: commandLine, by: 'grace' };
    await audit({ ...noted, action: 'ride_erased', about: rideId }, api.ctx.now() - 60_000);
    await audit({ ...noted, action: 'account_suspended' }, api.ctx.now());
    await look('account-suspended', '/account');
    await look('key-suspended', `/keys/${keyId}`);
    await lookAt('dashboard-suspended-refusal', `${api.url}/dashboard/keys/new`, {
      options,
      prepare: async (page) => {
        await page.getByLabel('Name').fill('Another');
        await page.getByRole('button', { name: 'Create key' }).click();
        await page.getByRole('heading', { name: 'This account is suspended' }).waitFor();
      },
    });
  }).timeout(300_000);

  /** A ride with one event that did not arrive, and the URL of its page. */
  async function failedRide() {
    const visitor = await signedIn(api);
    const { keyId } = await newKey(visitor, 'Front desk');
    const { delivered, failed } = states;
    const rideId = await rideWith(visitor, keyId, 'driver_arriving', [delivered, delivered, failed]);
    return { visitor, keyId, rideId, url: `${api.url}/dashboard/rides/${rideId}` };
  }

  it('the keyboard suffices to open timeline entries and go back, without loading a new page', async () => {
    const { visitor, url, rideId } = await failedRide();
    await applyAction(api.ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone');
    const page = await openPage(await openProfile(asVisitor(visitor)), url);
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
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await title.filter({ hasText: 'Offer received' }).waitFor();
    await page.goBack();
    await title.filter({ hasText: 'Ride requested' }).waitFor();
    expect(await page.evaluate(() => 'isSamePage' in window)).to.equal(true);
    expect(page.complaints).to.deep.equal([]);
  });

  it('on a phone, the page scrolls to the chosen detail', async () => {
    const { visitor, url } = await failedRide();
    const options = { viewport: { width: 360, height: 740 }, hasTouch: true };
    for (const javaScriptEnabled of [true, false]) {
      const page = await openPage(await openProfile(asVisitor(visitor, { ...options, javaScriptEnabled })), url);
      await page.getByRole('link', { name: /Ride requested/ }).click();
      const title = page.locator('#detail-title', { hasText: 'Ride requested' });
      await title.waitFor();
      await page.waitForFunction(() => (document.getElementById('detail')?.getBoundingClientRect().top ?? 999) < 300);
    }
  });

  it('the keyboard suffices to filter rides and resend failed events', async () => {
    const { visitor, keyId } = await failedRide();
    const page = await openPage(await openProfile(asVisitor(visitor)), `${api.url}/dashboard/rides`);
    await page.getByLabel('Status').focus();
    await page.keyboard.type('cancelled');
    await page.getByRole('button', { name: 'Filter' }).press('Enter');
    await page.waitForURL(/status=cancelled/);
    await page.getByText('No ride matches these filters.').waitFor();
    await page.getByRole('link', { name: 'Show all rides' }).press('Enter');
    await page.locator('.table.rides').waitFor();
    await page.goto(`${api.url}/dashboard/deliveries`);
    await page.getByLabel('Key').last().selectOption(keyId);
    await page.getByLabel('Failed since (UTC)').fill('2026-01-01T00:00');
    await page.getByRole('button', { name: 'Send failed again' }).press('Enter');
    await page
      .getByText(/sent again/)
      .first()
      .waitFor();
    expect(page.complaints).to.deep.equal([]);
  });
});

describe('an event that is resent from the page of its ride', () => {
  let answers: number;
  const receiver = useReceiver({
    answer: (response) => {
      response.statusCode = answers;
      response.end(answers === 200 ? 'ok' : 'upstream is away');
    },
  });
  const api = useTestService(() => ({ WEBHOOK_LOCAL_TARGETS: receiver.origin }), ['webhooks', 'webhooks-slow']);
  afterEach(closeProfiles);

  /** A ride whose only event was answered with 404, and the URL of its page. */
  async function failedRide() {
    answers = 404;
    const visitor = await signedIn(api);
    const accountId = visitor.account._id;
    const wish = { accountId, name: 'Front desk', mode: 'live', webhookUrl: receiver.url } as const;
    const { keyId } = await createKey(api.ctx.config, wish);
    const { rideId } = await rideIn(api.ctx, 'bidding', { keyId, accountId });
    await until(async () => (await attempts.findOne({ rideId }))?.outcome === 'failed');
    return { visitor, rideId, url: `${api.url}/dashboard/rides/${rideId}` };
  }

  it('the answer to a resend appears automatically', async () => {
    const { visitor, url, rideId } = await failedRide();
    answers = 200;
    const page = await openPage(await openProfile(asVisitor(visitor)), url);
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.locator('.detail .pill', { hasText: 'delivered' }).waitFor();
    expect(new URL(page.url()).searchParams.get('entry')).to.match(/^attempt-/);
    const receipt = receiver.receipts.at(-1);
    expect(receipt?.raw).to.equal((await storedRide(rideId)).events[0]?.body);
    expect(receipt?.headers['x-service-redelivery']).to.equal('true');
    expect(page.complaints).to.deep.equal([]);
  });

  it('the answer to a resend appears without scripts', async () => {
    const { visitor, url } = await failedRide();
    answers = 500;
    const page = await openPage(await openProfile(asVisitor(visitor, { javaScriptEnabled: false })), url);
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.locator('.detail .pill', { hasText: 'failed' }).waitFor();
    await page.getByText('Answered with a 5xx status').waitFor();
    expect(await page.locator('.detail').textContent()).to.include('upstream is away');
  });
});
