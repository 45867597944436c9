import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { createApp } from '../../api/app.ts';
import { keyPage } from '../../api/dashboard/keys/key-page.tsx';
import { overviewPage } from '../../api/dashboard/overview/overview.tsx';
import { pageHeaders } from '../../api/http/security-headers.ts';
import { serve } from '../../api/http/serve.ts';
import { pageError } from '../../api/pages/error-page.tsx';
import type { Part } from '../../api/part.ts';
import type { Mode } from '../../shared/base/terms.ts';
import { keys } from '../../shared/keys/api-key.ts';
import { createKey, findKey, listKeys, revokeKey } from '../../shared/keys/manage-keys.ts';
import { clientOf } from '../support/client.ts';
import { signedIn, type Visitor } from '../support/dashboard.ts';
import { hostileAccount } from '../support/hostile-account.ts';
import { useTestApi } from '../support/service.ts';
import { closeProfiles, lookAt, openPage, openProfile } from './browser.ts';

describe('the dashboard: keys, overview and account in a browser', () => {
  const api = useTestApi({ MAX_KEYS_PER_ACCOUNT: '200' });
  let visitor: Visitor;

  beforeEach(async () => {
    visitor = await signedIn(api);
  });
  afterEach(closeProfiles);

  const key = (mode: Mode, name: string, webhookUrl?: string) =>
    createKey(api.ctx.config, { accountId: visitor.account._id, name, mode, webhookUrl });
  const cookies = (): BrowserContextOptions['storageState'] => ({
    cookies: [
      {
        name: 'session',
        value: visitor.cookie.replace('session=', ''),
        domain: '127.0.0.1',
        path: '/',
        expires: -1,
        httpOnly: true,
        secure: false,
        sameSite: 'Lax',
      },
    ],
    origins: [],
  });
  const open = async (path: string, options: BrowserContextOptions = {}) =>
    openPage(await openProfile({ storageState: cookies(), ...options }), api.url + path);
  const look = (name: string, path: string, prepare?: (page: Page) => Promise<void>) =>
    lookAt(`dashboard-${name}`, api.url + path, { prepare, options: { storageState: cookies() }, fullPage: true });
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  /** The keys of a typical account after some months. */
  async function fullAccount() {
    const desk = await key('live', 'Front desk', 'https://hooks.seaview-hotel.example/rides/events?source=partner');
    const others: [Mode, string, string?][] = [
      ['live', 'Concierge app', 'https://hooks.seaview-hotel.example/concierge'],
      ['test', 'Staging'],
      ['live', 'Night shift: a long name that somebody once pasted from a ticket, with its number 48213-B'],
      ['test', 'Continuous integration', 'https://ci.seaview-hotel.example/hook'],
    ];
    for (const [mode, name, url] of others) await key(mode, name, url);
    const now = api.ctx.now();
    const daysAgo = (days: number) => new Date(now - days * 86_400_000);
    for (const [index, { _id, name }] of (await listKeys({ accountId: visitor.account._id })).entries()) {
      const lastUsedAt = name === 'Staging' ? {} : { lastUsedAt: daysAgo(index * 1.7 + 0.002) };
      await keys.updateOne({ _id }, { $set: { createdAt: daysAgo(200 - index * 31), ...lastUsedAt } });
    }
    for (let made = 0; made < 3; made += 1) await clientOf(api.url, desk.key).createRide();
    for (const name of ['Old kiosk', 'Pilot']) {
      await revokeKey((await key('live', name)).keyId, { accountId: visitor.account._id });
    }
    return desk;
  }

  it('an empty account passes layout and accessibility checks', async () => {
    await look('overview-first', '/dashboard');
    await look('keys-empty', '/dashboard/keys');
    await look('keys-new', '/dashboard/keys/new');
    await look('keys-new-fault', '/dashboard/keys/new', async (page) => {
      await button(page, 'Create key').click();
      await page.locator('.fault-summary').waitFor();
    });
    await look('account-empty', '/dashboard/account');
    await look('keys-created', '/dashboard/keys/new?mode=test', async (page) => {
      await page.getByLabel('Name').fill('Front desk');
      await button(page, 'Create key').click();
      await page.getByTestId('new-key').waitFor();
    });
    await look('keys-created-before', '/dashboard/keys/new?mode=test', async (page) => {
      await page.getByLabel('Name').fill('Front desk');
      await button(page, 'Create key').click();
      await page.getByTestId('new-key').waitFor();
      await page.reload();
    });
    await look('overview-second', '/dashboard');
  }).timeout(240_000);

  it('a typical account passes layout and accessibility checks', async () => {
    const { keyId } = await fullAccount();
    await look('overview-full', '/dashboard');
    await look('keys-full', '/dashboard/keys', (page) => page.getByText('Revoked keys (2)').click());
    await look('key', `/dashboard/keys/${keyId}`);
    await look('key-secret', `/dashboard/keys/${keyId}`, async (page) => {
      await button(page, 'Show signing secret').click();
      await page.getByTestId('signing-secret').waitFor();
    });
    await look('key-fault', `/dashboard/keys/${keyId}`, async (page) => {
      await page.getByLabel('Default webhook URL').fill('http://localhost:3000/hook');
      await button(page, 'Save').click();
      await page.locator('.fault-summary').waitFor();
    });
    await look('key-rotate', `/dashboard/keys/${keyId}/rotate`);
    await look('key-revoke', `/dashboard/keys/${keyId}/revoke`);
    await look('key-roll', `/dashboard/keys/${keyId}/roll-secret`);
    await look('account-full', '/dashboard/account');
    const [{ _id } = { _id: '' }] = (await listKeys({ accountId: visitor.account._id })).filter((k) => k.revokedAt);
    await look('key-revoked', `/dashboard/keys/${_id}`);
  }).timeout(300_000);

  it('an account with the most allowed keys passes layout and accessibility checks', async () => {
    await Promise.all(Array.from({ length: 200 }, (_, index) => key('test', `Kiosk ${index + 1}`)));
    for (const [name, path] of [
      ['overview-many', ''],
      ['keys-many', '/keys'],
      ['keys-new-limit', '/keys/new'],
    ]) {
      await lookAt(`dashboard-${name}`, `${api.url}/dashboard${path}`, { options: { storageState: cookies() } });
    }
  }).timeout(120_000);

  it('an account whose deliveries fail passes layout and accessibility checks', async () => {
    const { keyId } = await fullAccount();
    const now = api.ctx.now();
    const failing = { failuresInRow: 12, since: new Date(now - 7_000_000), reason: 'refused' as const };
    const { account } = visitor;
    const owned = await listKeys({ accountId: account._id });
    const usage = { activeKeys: 5, ridesCreated: 48_213, live: 41_020, test: 7_193, keysWithTraffic: 4 };
    const shown = {
      '/shown/key': keyPage({ account, key: await findKey(keyId, 'anyone'), now, ridesCreated: 48_213, failing }),
      '/shown/overview': overviewPage({
        account,
        keys: owned,
        usage: { ...usage, busiest: { keyId, name: 'Front desk', rides: 38_114 } },
        rides: new Map([[keyId, 38_114]]),
        health: new Map([[keyId, failing]]),
        now,
        publicBaseUrl: api.url,
      }),
    };
    const server = await serve(api.ctx, createApp(api.ctx, [partWith(shown)]));
    try {
      for (const path of Object.keys(shown)) {
        await lookAt(
          `dashboard-failing${path.replace('/shown', '').replace('/', '-')}`,
          `http://127.0.0.1:${server.port}${path}`,
          {
            fullPage: true,
          },
        );
      }
    } finally {
      await server.close();
    }
  }).timeout(120_000);

  it('typed markup is shown as text', async () => {
    const { params, visitor: hostile } = await hostileAccount(api);
    visitor = hostile;
    for (const path of ['', '/keys', `/keys/${params.keyId}`, `/keys/${params.keyId}/rotate`, '/account']) {
      const page = await open(`/dashboard${path}`);
      expect(await page.locator('xss-alive, [onclick]').count(), path).to.equal(0);
      expect(await page.getByText('xss-alive').count(), path).to.be.above(0);
      expect(page.complaints).to.deep.equal([]);
    }
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
    await tabTo('Make a test key');
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
    await tabTo('Copy');
    await tabTo('Set its webhook URL');
    await page.keyboard.press('Enter');
    await page.waitForURL(/keys\/key_/);
    await tabTo('Default webhook URL');
    await page.keyboard.type('https://partner.example/hook');
    await page.keyboard.press('Enter');
    await page.getByText('Saved.').waitFor();
    expect(await page.locator('.notice:focus').textContent()).to.include('Saved.');
    await tabTo('Revoke');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/revoke\??$/);
    await tabTo('Revoke');
    await page.keyboard.press('Enter');
    await page.getByText('Requests with this key are answered 401').waitFor();
    expect((await clientOf(api.url, shown).get('')).status).to.equal(401);
    expect(page.complaints).to.deep.equal([]);
  });

  it('creating a key works without scripts, and a reload creates no second key', async () => {
    const page = await open('/dashboard/keys', { javaScriptEnabled: false });
    await page.getByRole('link', { name: 'New key' }).click();
    await page.getByLabel('Name').fill('Front desk');
    await page.getByLabel('Mode').selectOption('live');
    await button(page, 'Create key').click();
    const first = await page.getByTestId('new-key').textContent();
    await page.reload();
    expect(await page.getByTestId('new-key').textContent()).to.equal(first);
    await page.getByRole('link', { name: 'Set its webhook URL' }).click();
    await button(page, 'Rotate').click();
    await button(page, 'Rotate').click();
    const second = await page.getByTestId('new-key').textContent();
    expect(second)
      .to.match(/^svc_live_/)
      .and.not.equal(first);
    await page.getByRole('link', { name: 'Go to the key' }).click();
    await page.getByLabel('Default webhook URL').fill('https://partner.example/hook');
    await button(page, 'Save').click();
    await page.getByText('Saved.').waitFor();
    await button(page, 'Show signing secret').click();
    const secret = await page.getByTestId('signing-secret').textContent();
    await button(page, 'Roll signing secret').click();
    await button(page, 'Roll signing secret').click();
    expect(await page.getByTestId('signing-secret').textContent())
      .to.match(/^whsec_/)
      .and.not.equal(secret);
    await page.getByLabel('Name', { exact: true }).fill('Night desk');
    await button(page, 'Rename').click();
    await page.getByRole('heading', { name: 'Night desk', level: 1 }).waitFor();
    await button(page, 'Revoke').click();
    await button(page, 'Revoke').click();
    await page.getByText('Requests with this key are answered 401').waitFor();
    expect(await listKeys({ accountId: visitor.account._id })).to.have.length(1);
  });

  it('the page copies the key, disables a clicked button, and does not show the key after Back', async () => {
    const profile = await openProfile({ storageState: cookies(), permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await openPage(profile, `${api.url}/dashboard/keys/new`);
    await page.getByLabel('Name').fill('Front desk');
    await button(page, 'Create key').dblclick();
    const shown = (await page.getByTestId('new-key').textContent()) ?? '';
    await button(page, 'Copy key').click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).to.equal(shown);
    await page.getByRole('link', { name: 'Set its webhook URL' }).click();
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
    const made = await key('test', 'Front desk');
    await ticked(1);
    await clientOf(api.url, made.key).createRide();
    await ticked(2);
    await visitor.post(`/dashboard/keys/${made.keyId}/webhook-url`, { webhookUrl: 'https://partner.example/hook' });
    await ticked(3);
    await page.getByRole('link', { name: 'Make a live key' }).waitFor();
    expect(await page.locator('.first-steps [role="status"]').textContent()).to.include('Set a webhook URL');
    expect(page.complaints).to.deep.equal([]);
  });
});

/** A part that serves pre-rendered pages. */
function partWith(pages: Record<string, string>): Part {
  return {
    name: 'shown',
    owns: (path) => path in pages,
    routes: () => [],
    headers: pageHeaders(),
    handle: (ctx) => {
      ctx.type = 'html';
      ctx.body = pages[ctx.path];
    },
    renderError: pageError,
  };
}
