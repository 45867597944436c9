import { expect } from 'chai';
import { createApp } from '../../../api/app.ts';
import { serve } from '../../../api/http/serve.ts';
import type { AuditAction } from '../../../shared/accounts/audit.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import { isWellFormedKey } from '../../../shared/keys/key-format.ts';
import { findKey, listKeys, revokeKey } from '../../../shared/keys/manage-keys.ts';
import { rotateKey } from '../../../shared/keys/replace-secret.ts';
import { failureReasons } from '../../../shared/webhooks/failure-reasons.ts';
import { clientOf } from '../../support/client.ts';
import { newFormId, signedIn } from '../../support/dashboard.ts';
import { useKeyPages } from '../../support/key-pages.ts';
import { withLogLines } from '../../support/log-lines.ts';
import { mailsTo } from '../../support/mails.ts';
import { formIn } from '../../support/pages.ts';

describe('the dashboard: keys', () => {
  const { api, visitor, owner, textOf, create, audited, isAlive, expectFault } = useKeyPages();

  for (const mode of ['test', 'live'] as const) {
    it(`a new ${mode} key works and is shown once, with a note that it is not shown again`, async () => {
      const { status, html, headers } = await create({ mode });
      const key = textOf(html, 'new-key') ?? '';
      expect(status).to.equal(200);
      expect(isWellFormedKey(key)).to.equal(true);
      expect(key).to.match(new RegExp(`^svc_${mode}_`));
      expect(await isAlive(key)).to.equal(true);
      expect(html).to.include('It will not be shown again').and.include(`data-copy="${key}"`);
      expect(headers.get('cache-control')).to.equal('no-store');
      const [made] = await listKeys(owner());
      expect(made).to.include({ name: 'Front desk', mode });
      for (const path of ['/dashboard', '/dashboard/keys', `/dashboard/keys/${made?._id}`, '/dashboard/account']) {
        const page = await visitor.get(path);
        expect(page.html, path).not.to.include(key).and.not.include(key.slice(9, -6));
      }
      expect(await audited()).to.deep.equal(['key_created'] satisfies AuditAction[]);
    });
  }

  it('starts the first ride of a new test key with one form, and shows the same request with the key', async () => {
    const { html } = await create({ mode: 'test' });
    expect(html).to.include(`Bearer ${textOf(html, 'new-key')}`);
    // The page with the new key stays open.
    expect(html).to.match(/<form[^>]* action="\/dashboard\/console"[^>]* target="_blank"/);
    const form = formIn(html, '/dashboard/console') ?? {};
    const { status, headers } = await visitor.post('/dashboard/console', form);
    expect(status).to.equal(303);
    expect(headers.get('location')).to.match(/^\/dashboard\/console\/ride_/);
    expect(formIn((await create({ mode: 'live' })).html, '/dashboard/console')).to.equal(undefined);
  });

  it('a repeated form gets the same answer in the same session, but not in another one', async () => {
    const formId = newFormId();
    const first = await create({ formId });
    const [made] = await listKeys(owner());
    for (const name of ['Front desk', 'Another name']) {
      expect(textOf((await create({ formId, name })).html, 'new-key')).to.equal(textOf(first.html, 'new-key'));
    }
    const elsewhere = await signedIn(api, visitor.account.email);
    const other = await elsewhere.post('/dashboard/keys', { name: 'Front desk', mode: 'test', formId });
    expect(other.html).to.include('This key exists already').and.include('>Rotate<');
    expect(other.html).to.include(`action="/dashboard/keys/${made?._id}/rotate"`);
    expect(other.html).not.to.include('new-key');
    expect(await listKeys(owner())).to.have.length(1);
    expect(await audited()).to.deep.equal(['key_created']);
  });

  it('a repeated form does not show its key again after a rotation', async () => {
    const formId = newFormId();
    const first = await create({ formId });
    const [made] = await listKeys(owner());
    await rotateKey(made?._id ?? '', owner());
    const again = await create({ formId });
    expect(again.html)
      .to.include('This key exists already')
      .and.match(/It was last rotated on <time[^>]*>[\d: -]+ UTC/);
    expect(again.html).not.to.include('new-key').and.not.include(textOf(first.html, 'new-key'));
  });

  it('a new key is reported by mail, once per form and without the key', async () => {
    const formId = newFormId();
    const { html } = await create({ formId, mode: 'live' });
    await create({ formId, mode: 'live' });
    const [mail, ...others] = await mailsTo(api.ctx, visitor.account.email);
    const [made] = await listKeys(owner());
    expect(others).to.deep.equal([]);
    expect(mail?.subject).to.equal('A new live key "Front desk"');
    expect(mail?.text).to.include(`https://rides.example/dashboard/keys/${made?._id}`).and.include('127.0.0.1');
    expect(mail?.text).not.to.include(textOf(html, 'new-key')?.slice(9, -6));
  });

  it('the form of a new key shows faults, and keeps the typed values', async () => {
    const long = 'x'.repeat(101);
    expectFault(await create({ name: long }), 'name', long, /too long/);
    expectFault(await create({ name: '  ' }), 'name', '  ', /Enter a name/);
    const withoutMode = await create({ mode: 'sandbox', name: 'Kept' });
    expect(withoutMode.status).to.equal(422);
    expect(withoutMode.html).to.include('<a href="#mode">').and.include('value="Kept"');
    expect(await listKeys(owner())).to.deep.equal([]);
    expect(await audited()).to.deep.equal([]);
  });

  it('no key, key name or signing secret is written to the log', async () => {
    const { ctx, lines } = withLogLines(api.ctx);
    const server = await serve(ctx, createApp(ctx));
    const logged = await signedIn({ ...api, url: `http://127.0.0.1:${server.port}` }, visitor.account.email);
    const made = await logged.post('/dashboard/keys', { name: 'Xanadu', mode: 'test' });
    const key = textOf(made.html, 'new-key') as string;
    const [{ _id } = { _id: '' }] = await listKeys(owner());
    const secret = textOf((await logged.post(`/dashboard/keys/${_id}/signing-secret`)).html, 'signing-secret');
    await logged.post(`/dashboard/keys/${_id}/webhook-url`, { webhookUrl: 'https://xanadu.example/hook' });
    await server.close();
    const log = JSON.stringify(lines);
    expect(lines.length).to.be.at.least(3);
    expect(secret).to.match(/^whsec_/);
    expect(log).not.to.match(/xanadu/i);
    expect(log).not.to.include(key.slice(9)).and.not.include(secret).and.not.include(visitor.account.email);
  });

  it('active keys are listed with name, mode, last four characters, times and rides, then revoked keys', async () => {
    const [old, used, revoked] = [
      await visitor.newKey('live', 'Oldest'),
      await visitor.newKey('test', 'Used'),
      await visitor.newKey('test', 'Revoked one'),
    ];
    for (let made = 0; made < 3; made += 1) await clientOf(api.url, used.key).createRide();
    await revokeKey(revoked.keyId, owner());
    await keys.updateOne({ _id: used.keyId }, { $set: { lastUsedAt: new Date(Date.UTC(2026, 1, 3, 4, 5, 6)) } });
    const { html } = await visitor.get('/dashboard/keys');
    expect(html.indexOf('Used')).to.be.within(0, html.indexOf('Oldest'));
    expect(html.indexOf('Oldest')).to.be.below(html.indexOf('Revoked keys'));
    expect(html.indexOf('Revoked keys')).to.be.below(html.indexOf('Revoked one'));
    for (const { key } of [old, used, revoked]) {
      expect(html)
        .to.include(`…${key.slice(-4)}`)
        .and.not.include(key);
    }
    const row = html.split('<tr>').find((text) => text.includes(used.keyId)) ?? '';
    expect(row).to.include('test').and.include('2026-02-03 04:05 UTC').and.include('>3</a>');
    expect(html.split('<tr>').find((text) => text.includes(old.keyId)))
      .to.include('live')
      .and.include('never');
  });

  const rename = (keyId: string, name: string) => visitor.post(`/dashboard/keys/${keyId}/name`, { name });

  it('the form renames a key, and adds one audit entry', async () => {
    const { keyId } = await visitor.newKey();
    for (const name of ['  Night desk ', 'Night desk']) {
      const { status, headers } = await rename(keyId, name);
      expect([status, headers.get('location')]).to.deep.equal([303, `/dashboard/keys/${keyId}?done=renamed`]);
    }
    expect((await findKey(keyId, owner())).name).to.equal('Night desk');
    expect((await visitor.get(`/dashboard/keys/${keyId}`)).html).to.include('Night desk');
    expect(await audited()).to.deep.equal(['key_renamed']);
  });

  it('the form of a new name shows its fault, and keeps the typed text', async () => {
    const { keyId } = await visitor.newKey();
    expectFault(await rename(keyId, ''), 'name', '', /Enter a name/);
    expectFault(await rename(keyId, 'y'.repeat(101)), 'name', 'y'.repeat(101), /too long/);
    expect((await findKey(keyId, owner())).name).to.equal('Front desk');
  });

  it('the page of the key shows failing deliveries, with their start and a link', async () => {
    const { keyId } = await visitor.newKey();
    const page = async () => (await visitor.get(`/dashboard/keys/${keyId}`)).html;
    expect(await page()).not.to.include('in a row');
    const failing = { inRow: 7, since: new Date(Date.UTC(2026, 1, 3)), at: new Date(), reason: 'refused' };
    await keys.updateOne({ _id: keyId }, { $set: { failing } });
    const html = await page();
    expect(html).to.include('7 in a row').and.include('2026-02-03 00:00 UTC');
    expect(html).to.include(`/dashboard/deliveries?key=${keyId}&amp;outcome=missed`);
    expect(html).to.include(failureReasons.refused[0]).and.include(failureReasons.refused[1]);
  });
});
