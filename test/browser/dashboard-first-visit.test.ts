import { expect } from 'chai';
import { createApp } from '../../api/app.ts';
import { serve } from '../../api/http/serve.ts';
import { mailBox } from '../../dev/stack/mail-box.tsx';
import { LimitModel } from '../../shared/accounts/limit.ts';
import { randomBase62 } from '../../shared/base/ids.ts';
import { useReceiver } from '../support/receiver.ts';
import { useStarted } from '../support/use-started.ts';
import { useTestService } from '../support/workers.ts';
import { closeProfiles, openPage, openProfile } from './browser.ts';

describe('the first time a developer uses the dashboard', () => {
  const receiver = useReceiver();
  const api = useTestService(() => ({ WEBHOOK_LOCAL_TARGETS: receiver.origin, SIMULATION_SPEED: '20' }));
  const dev = useStarted(() => serve(api.ctx, createApp(api.ctx, [mailBox(api.ctx)])));
  before(() => LimitModel.deleteMany({}));
  afterEach(closeProfiles);

  // `npm run test:browser -- --grep "first time"` prints the duration, at the pace of a person who types and reads.
  it('a new visitor signs in, creates a key, receives a test event and creates the first ride', async () => {
    const profile = await openProfile();
    const email = `${randomBase62(10).toLowerCase()}@partner.example`;
    const page = await openPage(profile, `http://127.0.0.1:${dev.port}/dashboard`);
    const type = async (label: string, text: string) => {
      await page.getByLabel(label, { exact: true }).fill('');
      await page.getByLabel(label, { exact: true }).pressSequentially(text, { delay: 60 });
    };
    const click = (name: string, role: 'button' | 'link' = 'button') => page.getByRole(role, { name }).first().click();

    await type('E-mail', email);
    await click('Send code');
    await page.getByLabel('Code').waitFor();
    const box = await openPage(profile, `http://127.0.0.1:${dev.port}/dev/mail`);
    const code = /\b\d{6}\b/.exec(await box.locator('main').innerText())?.[0] ?? '';
    await box.close();
    await type('Code', code);
    await click('Sign in');

    await click('Make a test key', 'link');
    await type('Name', 'Front desk');
    await page.getByLabel('Mode').selectOption('test');
    await click('Create key');
    const key = (await page.getByTestId('new-key').innerText()).trim();
    expect(key).to.match(/^svc_test_/);

    await click('Keys', 'link');
    await click('Front desk', 'link');
    await type('Default webhook URL', receiver.url);
    await click('Save');
    await click('Send test event');
    await page.getByText('delivered').first().waitFor();

    await click('Overview', 'link');
    const ride = await fetch(`${api.url}/v1/rides`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        pickup: { lat: 40.758, lng: -73.9855 },
        destination: { lat: 40.7128, lng: -74.006 },
        fare: 25,
      }),
    });
    expect(ride.status).to.equal(201);
    // The page ticks the last step automatically.
    await page.getByText('Your first ride is sent').waitFor();
    expect(page.complaints).to.deep.equal([]);
  });
});
