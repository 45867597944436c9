import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Mode } from '../../shared/base/terms.ts';
import { keys } from '../../shared/keys/api-key.ts';
import { listKeys, revokeKey } from '../../shared/keys/manage-keys.ts';
import { clientOf } from '../support/client.ts';
import { useVisitor } from '../support/dashboard.ts';
import { realisticRide } from '../support/rides-with-attempts.ts';
import { useTestApi } from '../support/service.ts';
import { asVisitor, openAs } from './as-visitor.ts';
import { type Look, lookAt } from './browser.ts';

describe('the dashboard: keys, overview and account in a browser', () => {
  const api = useTestApi({ MAX_KEYS_PER_ACCOUNT: '5' });
  const visitor = useVisitor(api);

  const open = (path: string, options: BrowserContextOptions = {}) => openAs(visitor, api.url + path, options);
  const look = (looks: Look[]) =>
    lookAt(
      api.url,
      looks.map(([name, path, prepare]): Look => [`dashboard-${name}`, `/dashboard${path}`, prepare]),
      asVisitor(visitor),
    );
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  /** The keys of a typical account after some months. */
  async function fullAccount() {
    for (const name of ['Old kiosk', 'Pilot']) {
      await revokeKey((await visitor.newKey('live', name)).keyId, { accountId: visitor.account._id });
    }
    const desk = await visitor.newKey(
      'live',
      'Front desk',
      'https://hooks.seaview-hotel.example/rides/events?source=partner',
    );
    const others: [Mode, string, string?][] = [
      ['live', 'Concierge app', 'https://hooks.seaview-hotel.example/concierge'],
      ['test', 'Staging'],
      ['live', 'Night shift: a long name that somebody once pasted from a ticket, with its number 48213-B'],
      ['test', 'Continuous integration', 'https://ci.seaview-hotel.example/hook'],
    ];
    for (const other of others) await visitor.newKey(...other);
    const now = api.ctx.now();
    const daysAgo = (days: number) => new Date(now - days * 86_400_000);
    for (const [index, { _id, name }] of (await listKeys({ accountId: visitor.account._id })).entries()) {
      const lastUsedAt = name === 'Staging' ? {} : { lastUsedAt: daysAgo(index * 1.7 + 0.002) };
      await keys.updateOne({ _id }, { $set: { createdAt: daysAgo(200 - index * 31), ...lastUsedAt } });
    }
    for (let made = 0; made < 3; made += 1) await clientOf(api.url, desk.key).createRide();
    return desk;
  }

  it('the pages of an empty account pass layout and accessibility checks', async () => {
    const create = async (page: Page) => {
      await page.getByLabel('Name').fill('Front desk');
      await button(page, 'Create key').click();
      await page.getByTestId('new-key').waitFor();
    };
    await look([
      ['overview-first', ''],
      ['keys-empty', '/keys'],
      [
        'keys-new-fault',
        '/keys/new',
        async (page) => {
          await button(page, 'Create key').click();
          await page.locator('.fault-summary').waitFor();
        },
      ],
      ['keys-created', '/keys/new?mode=test', create],
      [
        'keys-created-before',
        '/keys/new?mode=test',
        async (page) => {
          await create(page);
          await page.reload();
        },
      ],
      ['overview-second', ''],
    ]);
  });

  it('the pages of an account with all its keys, one of which fails, pass layout and accessibility checks', async () => {
    const { keyId } = await fullAccount();
    const failing = { inRow: 12, since: new Date(api.ctx.now() - 7_000_000), at: new Date(), reason: 'refused' };
    await keys.updateOne({ _id: keyId }, { $set: { failing } });
    for (const status of ['bidding', 'arrived', 'completed'] as const) {
      await visitor.rideIn(status, { ...realisticRide(), keyId });
    }
    const revoked = (await listKeys({ accountId: visitor.account._id })).find(({ revokedAt }) => revokedAt);
    await look([
      ['overview-full', ''],
      ['keys-full', '/keys', (page) => page.getByText('Revoked keys (2)').click()],
      ['keys-new-limit', '/keys/new'],
      [
        'key-secret',
        `/keys/${keyId}`,
        async (page) => {
          await button(page, 'Show signing secret').click();
          await page.getByTestId('signing-secret').waitFor();
        },
      ],
      [
        'key-fault',
        `/keys/${keyId}`,
        async (page) => {
          await page.getByLabel('Default webhook URL').fill('http://localhost:3000/hook');
          await page.locator('form', { hasText: 'Default webhook URL' }).getByRole('button', { name: 'Save' }).click();
          await page.locator('.fault-summary').waitFor();
        },
      ],
      ['key-revoked', `/keys/${revoked?._id}`],
    ]);
  });

  it('the keyboard suffices for a new account to get a working key', async () => {
    const page = await open('/dashboard');
    const tabTo = async (name: string) => {
      for (let presses = 0; presses < 40; presses += 1) {
        await page.keyboard.press('Tab');
        const focused = await page.evaluate(() => document.activeElement?.textContent);
        const label = await page.evaluate(() => (document.activeElement as HTMLInputElement).labels?.[0]?.textContent);
        if (focused === name || label === name) return;
      }
      throw new Error(`no Tab leads to ${name}`);
    };
    await tabTo('Create test key');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/keys/new?mode=test');
    await tabTo('Create key');
    await page.keyboard.press('Enter');
    await page.locator('.fault-summary:focus').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('#name:focus').waitFor();
    await page.keyboard.type('Front desk');
    await page.keyboard.press('Enter');
    const shown = (await page.getByTestId('new-key').textContent()) ?? '';
    expect((await clientOf(api.url, shown).get('')).status).to.equal(200);
    await tabTo('Set webhook URL');
    await page.keyboard.press('Enter');
    await page.waitForURL(/keys\/key_/);
    await tabTo('Default webhook URL');
    await page.keyboard.type('https://partner.example/hook');
    await page.keyboard.press('Enter');
    await page.locator('.notice:focus', { hasText: 'Saved.' }).waitFor();
    expect(page.complaints).to.deep.equal([]);
  });

  it('the page copies the key, disables a clicked button, and does not show the key after Back', async () => {
    const page = await open('/dashboard/keys/new', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByLabel('Name').fill('Front desk');
    const sent: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
    await button(page, 'Create key').dblclick();
    const shown = (await page.getByTestId('new-key').textContent()) ?? '';
    // Back may send the form again, which only repeats its answer.
    expect(sent).to.have.length(1);
    await button(page, 'Copy key').click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).to.equal(shown);
    await page.getByRole('link', { name: 'Set webhook URL' }).click();
    await page.getByLabel('Default webhook URL').waitFor();
    // Chromium may restore the page, request it again, or report that it would have to send the form again.
    await page.goBack({ waitUntil: 'commit' }).catch(() => undefined);
    const content = () => page.evaluate(() => document.documentElement.outerHTML).catch(() => null);
    let html = await content();
    // Null while the browser navigates to another page.
    while (html === null) html = await content();
    expect(html).not.to.include(shown);
    expect(await listKeys({ accountId: visitor.account._id })).to.have.length(1);
  });

  it('the onboarding steps are ticked automatically', async () => {
    const page = await open('/dashboard');
    const ticked = (count: number) =>
      page.waitForFunction((n) => document.querySelectorAll('.first-steps li.done').length === n, count);
    const made = await visitor.newKey();
    await ticked(1);
    await clientOf(api.url, made.key).createRide();
    await ticked(2);
    await visitor.post(`/dashboard/keys/${made.keyId}/webhook-url`, { webhookUrl: 'https://partner.example/hook' });
    await ticked(3);
    await page.getByRole('link', { name: 'Create live key' }).waitFor();
    expect(await page.locator('.first-steps [role="status"]').textContent()).to.include('Set webhook URL');
    expect(page.complaints).to.deep.equal([]);
  });
});
