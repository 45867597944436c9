import { expect } from 'chai';
import { audit, commandLine } from '../../shared/accounts/audit.ts';
import type { Mode } from '../../shared/base/terms.ts';
import { createKey } from '../../shared/keys/manage-keys.ts';
import { suspendAccount } from '../../shared/keys/suspend-account.ts';
import { eraseRide } from '../../shared/retention/erase-rides.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { RideStatus } from '../../shared/rides/ride-types.ts';
import { attempts } from '../../shared/webhooks/attempts.ts';
import { attemptRecord } from '../support/attempts.ts';
import { signedIn, type Visitor } from '../support/dashboard.ts';
import { useReceiver } from '../support/receiver.ts';
import { type RideWish, rideIn } from '../support/rides.ts';
import { attemptStates, nothingSent, rideWithAttempts } from '../support/rides-with-attempts.ts';
import { useTestApi } from '../support/service.ts';
import { storedRide } from '../support/stored-rides.ts';
import { until } from '../support/until.ts';
import { useTestService } from '../support/workers.ts';
import { asVisitor } from './as-visitor.ts';
import { closeProfiles, lookAt, openPage, openProfile } from './browser.ts';

describe('the pages of rides and deliveries', () => {
  // No workers run, so every delivery stays as the test has stored it.
  const api = useTestApi();
  afterEach(closeProfiles);

  const newKey = ({ account }: Visitor, name: string, mode: Mode = 'live') =>
    createKey(api.ctx.config, { accountId: account._id, name, mode });

  const rideWith = (
    { account }: Visitor,
    keyId: string,
    status: RideStatus,
    outcomes: Parameters<typeof rideWithAttempts>[3],
    wish?: RideWish,
  ) => rideWithAttempts(api.ctx, { accountId: account._id, keyId, ...wish }, status, outcomes);

  it('passes layout and accessibility checks: full, empty, and without matches', async () => {
    const visitor = await signedIn(api, 'front.desk@grand-hotel.example');
    const look = (name: string, path: string) =>
      lookAt(`dashboard-rides-${name}`, `${api.url}/dashboard${path}`, {
        options: asVisitor(visitor),
        fullPage: true,
      });
    await look('empty', '/rides');
    await look('deliveries-empty', '/deliveries');
    const [desk, ward] = [await newKey(visitor, 'Front desk'), await newKey(visitor, 'Night ward, building 4', 'test')];
    const { delivered, failed, timeout, blocked, no_url } = attemptStates;
    for (const status of ['bidding', 'driver_arriving', 'arrived', 'in_progress', 'cancelled'] as const) {
      await rideWith(visitor, desk.keyId, status, [delivered, delivered]);
    }
    await rideWith(visitor, ward.keyId, 'completed', [delivered, failed, timeout], { mode: 'test', fare: 1_234.5 });
    const rideId = await rideWith(visitor, desk.keyId, 'completed', [delivered, blocked, failed, timeout, no_url]);
    await attempts.insertOne(
      attemptRecord({
        ...{ accountId: visitor.account._id, keyId: desk.keyId, kind: 'test', rideId: undefined, seq: undefined },
        ...{ outcome: 'waiting', ...nothingSent, durationMs: undefined, address: undefined, body: undefined },
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
    const arrived = await rides.findOne({ keyId: desk.keyId, status: 'arrived' });
    await look('ride-cancel', `/rides/${arrived?._id}/cancel`);
    for (const outcome of ['failed', 'waiting'] as const) {
      const attempt = await attempts.findOne({ accountId: visitor.account._id, outcome });
      await look(`delivery-${outcome}`, `/deliveries/${attempt?._id}`);
    }
  }).timeout(300_000);

  it('passes layout and accessibility checks for an erased ride and a suspended account', async () => {
    const visitor = await signedIn(api, 'night.desk@grand-hotel.example');
    const { account } = visitor;
    const options = asVisitor(visitor);
    const look = (name: string, path: string) =>
      lookAt(`dashboard-${name}`, `${api.url}/dashboard${path}`, { options, fullPage: true });
    const { keyId } = await newKey(visitor, 'Front desk');
    const rideId = await rideWith(visitor, keyId, 'completed', Array(6).fill(attemptStates.delivered));
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

  it('filters rides and resends failed events with only the keyboard', async () => {
    const visitor = await signedIn(api);
    const { keyId } = await newKey(visitor, 'Front desk');
    const { delivered, failed } = attemptStates;
    await rideWith(visitor, keyId, 'driver_arriving', [delivered, delivered, failed]);
    const page = await openPage(await openProfile(asVisitor(visitor)), `${api.url}/dashboard/rides`);
    await page.getByLabel('Status').focus();
    await page.keyboard.type('cancelled');
    await page.getByRole('button', { name: 'Filter' }).press('Enter');
    await page.waitForURL(/status=cancelled/);
    await page.getByText('No ride matches these filters.').waitFor();
    await page.getByRole('link', { name: 'Show all rides' }).press('Enter');
    await page.locator('.table.rides').waitFor();
    await page.goto(`${api.url}/dashboard/deliveries`);
    await page.getByText('Resend failed events').press('Enter');
    await page.locator('.send-failed').getByLabel('Key').selectOption(keyId);
    await page.getByLabel('Failed in').selectOption('30d');
    await page.getByRole('button', { name: 'Resend events' }).press('Enter');
    await page.getByText(/being resent|nothing is resent/).waitFor();
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

  it('shows the answer to a resend automatically', async () => {
    const { visitor, url, rideId } = await failedRide();
    answers = 200;
    const page = await openPage(await openProfile(asVisitor(visitor)), url);
    await page.getByRole('button', { name: 'Resend' }).click();
    await page.locator('.detail .pill', { hasText: 'delivered' }).waitFor();
    expect(new URL(page.url()).searchParams.get('entry')).to.match(/^attempt-/);
    const receipt = receiver.receipts.at(-1);
    expect(receipt?.raw).to.equal((await storedRide(rideId)).events[0]?.body);
    expect(receipt?.headers['x-service-redelivery']).to.equal('true');
    expect(page.complaints).to.deep.equal([]);
  });

  it('shows the answer to a resend without scripts', async () => {
    const { visitor, url } = await failedRide();
    answers = 500;
    const page = await openPage(await openProfile(asVisitor(visitor, { javaScriptEnabled: false })), url);
    await page.getByRole('button', { name: 'Resend' }).click();
    await page.locator('.detail .pill', { hasText: 'failed' }).waitFor();
    await page.getByText('Answered with a 5xx status').waitFor();
    expect(await page.locator('.detail').textContent()).to.include('upstream is away');
  });
});
