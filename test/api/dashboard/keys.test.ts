import { expect } from 'chai';
import { createApp } from '../../../api/app.ts';
import { keyPage } from '../../../api/dashboard/keys/key-page.tsx';
import { serve } from '../../../api/http/serve.ts';
import { type AuditAction, auditOf } from '../../../shared/accounts/audit.ts';
import { sentForm } from '../../../shared/accounts/sent-form.ts';
import type { Mode } from '../../../shared/base/mode.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import { deliverySettings, settingsMaxAgeMs } from '../../../shared/keys/delivery-settings.ts';
import { isWellFormedKey } from '../../../shared/keys/key-format.ts';
import { createKey, findKey, listKeys, revokeKey } from '../../../shared/keys/manage-keys.ts';
import { rotateByForm, rotateKey } from '../../../shared/keys/replace-secret.ts';
import { failureReasons } from '../../../shared/webhooks/failure-reasons.ts';
import { clientOf } from '../../support/client.ts';
import { newFormId, type PageAnswer, signedIn, useVisitor, type Visitor } from '../../support/dashboard.ts';
import { failOnce } from '../../support/failing-mongo.ts';
import { withLogLines } from '../../support/log-lines.ts';
import { mailsTo } from '../../support/mails.ts';
import { testConfig, useTestApi } from '../../support/service.ts';

describe('the dashboard: keys', () => {
  const api = useTestApi();
  const visitor = useVisitor(api);

  const owner = () => ({ accountId: visitor.account._id });
  const textOf = (html: string, testId: string) => new RegExp(`data-testid="${testId}">([^<]+)<`).exec(html)?.[1];
  const create = (fields: Record<string, string> = {}) =>
    visitor.post('/dashboard/keys', { name: 'Front desk', mode: 'test', ...fields });
  const ownKey = (mode: Mode = 'test', webhookUrl?: string) =>
    createKey(api.ctx.config, { ...owner(), name: 'Front desk', mode, webhookUrl });
  const audited = async () => (await auditOf(visitor.account._id, 100)).map(({ action }) => action).reverse();
  const isAlive = async (key: string) => (await clientOf(api.url, key).get('')).status === 200;
  const stored = (keyId: string) => keys.findOne({ _id: keyId });

  /** A form that came back: its title, and for each field the fault and what was typed. */
  function expectFault({ status, html }: PageAnswer, field: string, typed: string, words: RegExp) {
    expect(status).to.equal(422);
    expect(html).to.match(/<title>Error: /);
    expect(html).to.match(new RegExp(`<li><a href="#${field}">[^<]+</a></li>`));
    const fault = new RegExp(`id="${field}-fault">([^<]+)<`).exec(html)?.[1];
    expect(fault).to.match(words);
    expect(html).to.include(`<a href="#${field}">${fault}</a>`);
    expect(html).to.match(new RegExp(`<input id="${field}"[^>]*aria-invalid="true"`));
    const value = typed ? `value="${typed}"` : 'value ';
    expect(html).to.match(new RegExp(`<input id="${field}"[^>]* ${value}`));
  }

  describe('creating one', () => {
    for (const mode of ['test', 'live'] as const) {
      it(`shows a working ${mode} key once, and says that it will not be shown again`, async () => {
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

    it('repeats the answer of the same form sent again in the same session, and of no other', async () => {
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

    it('shows no key that is not in use: after a rotation, the form that made it says so', async () => {
      const formId = newFormId();
      const first = await create({ formId });
      const [made] = await listKeys(owner());
      await rotateKey(made?._id ?? '', owner());
      const again = await create({ formId });
      expect(again.html)
        .to.include('This key exists already')
        .and.match(/It was last rotated at [\d: -]+ UTC/);
      expect(again.html).not.to.include('new-key').and.not.include(textOf(first.html, 'new-key'));
    });

    it('makes one key of ten sendings of a form at once, and shows it in each answer', async () => {
      const formId = newFormId();
      const answers = await Promise.all(Array.from({ length: 10 }, () => create({ formId })));
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(10).fill(200));
      const shown = new Set(answers.map(({ html }) => textOf(html, 'new-key')));
      expect(shown.size).to.equal(1);
      expect(await isAlive([...shown][0] as string)).to.equal(true);
      expect(await listKeys(owner())).to.have.length(1);
      expect(await audited()).to.deep.equal(['key_created']);
    });

    it('is reported to the address of the account, once for a form and without the key', async () => {
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

    it('makes the key of a form whose first sending failed when it is sent again', async () => {
      const formId = newFormId();
      failOnce(keys, 'insertOne', new Error('MongoDB is away'));
      expect((await create({ formId })).status).to.equal(500);
      expect(textOf((await create({ formId })).html, 'new-key')).to.match(/^svc_test_/);
      expect(await listKeys(owner())).to.have.length(1);
    });

    it('comes back with what is wrong and what was typed', async () => {
      const long = 'x'.repeat(101);
      expectFault(await create({ name: long }), 'name', long, /too long/);
      expectFault(await create({ name: '  ' }), 'name', '  ', /Enter a name/);
      const withoutMode = await create({ mode: 'sandbox', name: 'Kept' });
      expect(withoutMode.status).to.equal(422);
      expect(withoutMode.html).to.include('<a href="#mode">').and.include('value="Kept"');
      expect(await listKeys(owner())).to.deep.equal([]);
      expect(await audited()).to.deep.equal([]);
    });

    it('refuses a form without its one-time id', async () => {
      for (const formId of ['', 'x', 'x'.repeat(23)]) expect((await create({ formId })).status).to.equal(400);
      expect(await listKeys(owner())).to.deep.equal([]);
    });

    it('writes neither the key nor its name to the log', async () => {
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
  });

  describe('the list', () => {
    it('shows name, mode, last four, creation, last use and rides, newest first, and revoked keys apart', async () => {
      const [old, used, revoked] = [
        await createKey(api.ctx.config, { ...owner(), name: 'Oldest', mode: 'live' }),
        await createKey(api.ctx.config, { ...owner(), name: 'Used', mode: 'test' }),
        await createKey(api.ctx.config, { ...owner(), name: 'Revoked one', mode: 'test' }),
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
      expect(row).to.include('test').and.include('2026-02-03 04:05:06 UTC').and.include('>3</a>');
      expect(html.split('<tr>').find((text) => text.includes(old.keyId)))
        .to.include('live')
        .and.include('never');
    });

    it('of an account without keys offers the first', async () => {
      const { html } = await visitor.get('/dashboard/keys');
      expect(html)
        .to.include('No keys yet')
        .and.match(/href="\/dashboard\/keys\/new">New key</);
      expect((await visitor.get('/dashboard/keys/new')).html).to.include('Create key');
    });
  });

  describe('its name', () => {
    const rename = (keyId: string, name: string) => visitor.post(`/dashboard/keys/${keyId}/name`, { name });

    it('is changed, and the change noted once', async () => {
      const { keyId } = await ownKey();
      for (const name of ['  Night desk ', 'Night desk']) {
        const { status, headers } = await rename(keyId, name);
        expect([status, headers.get('location')]).to.deep.equal([303, `/dashboard/keys/${keyId}?done=renamed`]);
      }
      expect((await findKey(keyId, owner())).name).to.equal('Night desk');
      expect((await visitor.get(`/dashboard/keys/${keyId}`)).html).to.include('Night desk');
      expect(await audited()).to.deep.equal(['key_renamed']);
    });

    it('comes back with what is wrong and what was typed', async () => {
      const { keyId } = await ownKey();
      expectFault(await rename(keyId, ''), 'name', '', /Enter a name/);
      expectFault(await rename(keyId, 'y'.repeat(101)), 'name', 'y'.repeat(101), /too long/);
      expect((await findKey(keyId, owner())).name).to.equal('Front desk');
    });
  });

  describe('rotating one', () => {
    it('asks once, then kills the old key at once and shows the new one once', async () => {
      const { keyId, key } = await ownKey('live');
      const asked = await visitor.get(`/dashboard/keys/${keyId}/rotate`);
      expect(asked.html)
        .to.include('Rotate this key?')
        .and.match(/<button[^>]*>Rotate<\/button>/);
      expect(await isAlive(key)).to.equal(true);
      const { status, html } = await visitor.post(`/dashboard/keys/${keyId}/rotate`);
      const rotated = textOf(html, 'new-key') ?? '';
      expect(status).to.equal(200);
      expect(html).to.include('It will not be shown again');
      expect([await isAlive(key), await isAlive(rotated)]).to.deep.equal([false, true]);
      expect((await visitor.get(`/dashboard/keys/${keyId}`)).html)
        .to.include(rotated.slice(-4))
        .and.not.include(rotated);
      expect(await audited()).to.deep.equal(['key_rotated']);
    });

    it('happens once for each form, however often and at once it is sent, and each answer shows the key', async () => {
      const { keyId } = await ownKey();
      const formId = newFormId();
      const send = () => visitor.post(`/dashboard/keys/${keyId}/rotate`, { formId });
      const answers = [...(await Promise.all(Array.from({ length: 5 }, send))), await send()];
      const shown = new Set(answers.map(({ html }) => textOf(html, 'new-key')));
      expect(shown.size).to.equal(1);
      expect(await isAlive([...shown][0] as string)).to.equal(true);
      expect(await audited()).to.deep.equal(['key_rotated']);
      expect((await mailsTo(api.ctx, visitor.account.email)).map(({ subject }) => subject)).to.deep.equal([
        'Your test key "Front desk" was rotated',
      ]);
    });

    it('shows a key only in the session that sent the form, and only until another form rotates it', async () => {
      const { keyId } = await ownKey();
      const formId = newFormId();
      const rotate = (by = visitor, fields = {}) => by.post(`/dashboard/keys/${keyId}/rotate`, fields);
      const first = textOf((await rotate(visitor, { formId })).html, 'new-key') ?? '';
      const elsewhere = await rotate(await signedIn(api, visitor.account.email), { formId });
      expect(elsewhere.html).to.include('This form was sent before').and.include('>Rotate<');
      expect(elsewhere.html).not.to.include('new-key').and.not.include(first);
      const second = textOf((await rotate()).html, 'new-key') ?? '';
      const again = await rotate(visitor, { formId });
      expect(again.html)
        .to.include('This form was sent before')
        .and.match(/It was last rotated at [\d: -]+ UTC/);
      expect(again.html).not.to.include('new-key').and.not.include(first).and.not.include(second);
      expect([await isAlive(first), await isAlive(second)]).to.deep.equal([false, true]);
    });

    it('repeats its answer after SECRETS_KEY has got a new first key, and shows none without the old one', async () => {
      const { keyId } = await ownKey();
      const formId = newFormId();
      const first = textOf((await visitor.post(`/dashboard/keys/${keyId}/rotate`, { formId })).html, 'new-key');
      const [old, newer] = [7, 8].map((byte) => Buffer.alloc(32, byte).toString('base64'));
      const config = (value: string) => testConfig({ SECRETS_KEY: value });
      const form = {
        ...sentForm(visitor.account._id, formId, visitor.cookie.replace('session=', '')),
        arrivedAt: new Date(),
      };
      const repeated = await rotateByForm(config(`${newer},${old}`), keyId, owner(), form);
      expect(repeated.key).to.equal(first);
      expect(await rotateByForm(config(`${newer}`), keyId, owner(), form)).not.to.have.property('key');
    });

    it('shows one key to two people who rotate it at once, and the other is clearly refused', async () => {
      const { keyId } = await ownKey();
      const answers = await Promise.all([1, 2, 3].map(() => visitor.post(`/dashboard/keys/${keyId}/rotate`)));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409]);
      const shown = answers.flatMap(({ html }) => textOf(html, 'new-key') ?? []);
      expect(shown).to.have.length(1);
      expect(await isAlive(shown[0] as string)).to.equal(true);
      for (const { html } of answers.filter(({ status }) => status === 409)) {
        expect(html).to.include('Somebody rotated this key a moment ago');
      }
      expect(await audited()).to.deep.equal(['key_rotated']);
    });

    for (const [path, shows, replacedAt] of [
      ['rotate', 'new-key', 'rotatedAt'],
      ['roll-secret', 'signing-secret', 'rolledAt'],
    ] as const) {
      it(`is not refused to a form of ${path} after the clock went back an hour`, async () => {
        const { keyId } = await ownKey();
        const ahead = new Date(Date.now() + 3_600_000);
        await keys.updateOne({ _id: keyId }, { $set: { [replacedAt]: ahead } });
        const { status, html } = await visitor.post(`/dashboard/keys/${keyId}/${path}`, {
          seen: String(ahead.getTime()),
        });
        expect(status).to.equal(200);
        expect(textOf(html, shows)).to.be.a('string');
      });

      it(`refuses a form of ${path} that was shown before somebody else's took effect`, async () => {
        const { keyId } = await ownKey();
        const seenBy = async () =>
          /name="seen" value="(\d+)"/.exec((await visitor.get(`/dashboard/keys/${keyId}/${path}`)).html)?.[1] ?? '';
        const seen = await seenBy();
        const first = await visitor.post(`/dashboard/keys/${keyId}/${path}`, { seen });
        const second = await visitor.post(`/dashboard/keys/${keyId}/${path}`, { seen });
        expect([first.status, second.status]).to.deep.equal([200, 409]);
        expect(textOf(first.html, shows)).to.be.a('string');
        expect(second.html).to.include('Somebody ro').and.not.include(`"${shows}"`);
        const fresh = await visitor.post(`/dashboard/keys/${keyId}/${path}`, { seen: await seenBy() });
        expect(fresh.status).to.equal(200);
      });
    }
  });

  describe('revoking one', () => {
    it('asks once, then refuses its next request, and says so on its page', async () => {
      const { keyId, key } = await ownKey();
      const asked = await visitor.get(`/dashboard/keys/${keyId}/revoke`);
      expect(asked.html)
        .to.include('Revoke this key?')
        .and.match(/<button[^>]*>Revoke<\/button>/);
      expect(await isAlive(key)).to.equal(true);
      const { status, headers } = await visitor.post(`/dashboard/keys/${keyId}/revoke`);
      expect([status, headers.get('location')]).to.deep.equal([303, `/dashboard/keys/${keyId}`]);
      expect(await isAlive(key)).to.equal(false);
      const { html } = await visitor.get(`/dashboard/keys/${keyId}`);
      expect(html).to.include('Requests with this key are answered 401');
      for (const action of ['Rotate', 'Revoke', 'Save', 'Send test event', 'Roll signing secret', 'Rename']) {
        expect(html, action).not.to.include(`>${action}<`);
      }
    });

    it('leaves nothing else to be done: every other action leads to its page and changes nothing', async () => {
      const { keyId } = await ownKey('test', 'https://partner.example/hook');
      await revokeKey(keyId, owner());
      const before = await stored(keyId);
      for (const path of ['name', 'webhook-url', 'test-event', 'signing-secret', 'roll-secret', 'rotate', 'revoke']) {
        const { status, headers } = await visitor.post(`/dashboard/keys/${keyId}/${path}`, { name: 'x' });
        expect([status, headers.get('location')], path).to.deep.equal([303, `/dashboard/keys/${keyId}`]);
      }
      expect(await stored(keyId)).to.deep.equal(before);
      expect(await audited()).to.deep.equal([]);
    });
  });

  describe('its default webhook URL', () => {
    const save = (keyId: string, webhookUrl: string) =>
      visitor.post(`/dashboard/keys/${keyId}/webhook-url`, { webhookUrl });
    const saved = async (keyId: string) => (await deliverySettings(api.ctx.config, keyId)).webhookUrl;

    it('is saved for the very next delivery, and taken away by an empty field', async () => {
      const { keyId } = await ownKey();
      for (const typed of ['https://partner.example/hook', ' https://partner.example/hook ']) {
        const { status, headers } = await save(keyId, typed);
        expect([status, headers.get('location')]).to.deep.equal([303, `/dashboard/keys/${keyId}?done=url-saved`]);
        expect(await saved(keyId)).to.equal('https://partner.example/hook');
      }
      const { html } = await visitor.get(`/dashboard/keys/${keyId}?done=url-saved`);
      expect(html).to.include('value="https://partner.example/hook"').and.include('Saved.');
      expect((await save(keyId, '')).headers.get('location')).to.include('done=url-removed');
      expect(await saved(keyId)).to.equal(undefined);
      expect(await audited()).to.deep.equal(['webhook_url_set', 'webhook_url_set']);
    });

    it('is saved, and answered when no request goes to the old one any more', async () => {
      const { keyId } = await ownKey('test', 'https://partner.example/before');
      for (const typed of ['https://partner.example/hook', 'https://partner.example/hook', '']) {
        const startedAt = performance.now();
        await save(keyId, typed);
        expect(performance.now() - startedAt).to.be.at.least(settingsMaxAgeMs);
      }
    });

    const refused: [url: string, words: RegExp][] = [
      ['http://partner.example/', /must be an https URL/],
      ['https://127.0.0.1/', /not public/],
      ['https://169.254.169.254/latest/', /not public/],
      ['https://metadata.google.internal/', /local or cloud-internal/],
      ['nonsense', /must be a valid URL/],
      ['https://partner.example:25/', /must not use port/],
    ];
    for (const [url, words] of refused) {
      it(`comes back for ${url}, with the words of the API and what was typed`, async () => {
        const { keyId } = await ownKey('test', 'https://partner.example/before');
        expectFault(await save(keyId, url), 'webhookUrl', url, words);
        expect(await saved(keyId)).to.equal('https://partner.example/before');
        expect(await audited()).to.deep.equal([]);
      });
    }
  });

  describe('its signing secret', () => {
    it('is hidden until it is asked for, and each look is noted', async () => {
      const { keyId, signingSecret } = await ownKey();
      const before = await visitor.get(`/dashboard/keys/${keyId}`);
      expect(before.html).to.include('>Show signing secret<').and.not.include('whsec_');
      const shown = await visitor.post(`/dashboard/keys/${keyId}/signing-secret`);
      expect(textOf(shown.html, 'signing-secret')).to.equal(signingSecret);
      const address = await visitor.get(`/dashboard/keys/${keyId}/signing-secret`);
      expect([address.status, address.headers.get('location')]).to.deep.equal([303, `/dashboard/keys/${keyId}`]);
      expect(await audited()).to.deep.equal(['signing_secret_viewed']);
    });

    it('is rolled after one question, once for each form, and signs the very next delivery', async () => {
      const { keyId, signingSecret } = await ownKey();
      const current = async () => (await deliverySettings(api.ctx.config, keyId)).signingSecret;
      const asked = await visitor.get(`/dashboard/keys/${keyId}/roll-secret`);
      expect(asked.html).to.match(/<button[^>]*>Roll signing secret<\/button>/);
      expect(await current()).to.equal(signingSecret);
      const formId = newFormId();
      const send = async () => {
        const startedAt = performance.now();
        const answer = await visitor.post(`/dashboard/keys/${keyId}/roll-secret`, { formId });
        // A repeat can come before requests that use the old secret have been written.
        expect(performance.now() - startedAt).to.be.at.least(settingsMaxAgeMs);
        return answer;
      };
      const rolled = textOf((await send()).html, 'signing-secret');
      expect(rolled)
        .to.match(/^whsec_/)
        .and.not.equal(signingSecret);
      expect(await current()).to.equal(rolled);
      expect(textOf((await send()).html, 'signing-secret')).to.equal(rolled);
      const other = await signedIn(api, visitor.account.email);
      const elsewhere = await other.post(`/dashboard/keys/${keyId}/roll-secret`, { formId });
      expect([elsewhere.status, elsewhere.html.includes('whsec_')]).to.deep.equal([303, false]);
      expect(await current()).to.equal(rolled);
      expect(await audited()).to.deep.equal(['signing_secret_rolled']);
    });
  });

  describe('a test event', () => {
    const send = (keyId: string, fields = {}) => visitor.post(`/dashboard/keys/${keyId}/test-event`, fields);

    it('leads to its attempt, and is sent once for each form', async () => {
      const { keyId } = await ownKey('test', 'https://partner.example/hook');
      const formId = newFormId();
      const first = await send(keyId, { formId });
      expect(first.status).to.equal(303);
      expect(first.headers.get('location')).to.match(/^\/dashboard\/deliveries\/\w+$/);
      const again = await send(keyId, { formId });
      expect([again.status, again.headers.get('location')]).to.deep.equal([303, first.headers.get('location')]);
    });

    it('needs a URL first', async () => {
      const { keyId } = await ownKey();
      expectFault(await send(keyId), 'webhookUrl', '', /Save a default webhook URL first/);
    });

    it('is refused on a clear page after ten in a minute', async () => {
      const { keyId } = await ownKey('test', 'https://partner.example/hook');
      for (let sent = 0; sent < 10; sent += 1) expect((await send(keyId)).status).to.equal(303);
      const { status, html, headers } = await send(keyId);
      expect(status).to.equal(429);
      expect(headers.get('retry-after')).to.match(/^\d+$/);
      expect(html).to.include('At most 10 test events a minute').and.include('Send test event');
    });
  });

  it('say on their page that deliveries fail, since when and where to look', async () => {
    const { keyId } = await ownKey();
    const key = await findKey(keyId, owner());
    const failing = { failuresInRow: 7, since: new Date(Date.UTC(2026, 1, 3)), reason: 'refused' as const };
    const facts = { account: visitor.account, key, now: Date.UTC(2026, 1, 4), ridesCreated: 0 };
    const html = keyPage({ ...facts, failing });
    expect(html).to.include('7 in a row').and.include('2026-02-03 00:00:00 UTC');
    expect(html).to.include(`/dashboard/deliveries?key=${keyId}&amp;outcome=missed`);
    expect(html).to.include(failureReasons.refused[0]).and.include(failureReasons.refused[1]);
    expect(keyPage(facts)).not.to.include('in a row');
  });
});

describe('the dashboard: the most keys that an account may have', () => {
  const api = useTestApi({ MAX_KEYS_PER_ACCOUNT: '3' });
  let visitor: Visitor;

  beforeEach(async () => {
    visitor = await signedIn(api);
  });

  const owner = () => ({ accountId: visitor.account._id });
  const create = (fields: Record<string, string> = {}) =>
    visitor.post('/dashboard/keys', { name: 'Front desk', mode: 'test', ...fields });
  const byOperator = () => createKey(api.ctx.config, { ...owner(), name: 'By the operator', mode: 'test' });
  const textOf = (html: string) => /data-testid="new-key">([^<]+)</.exec(html)?.[1];
  const activeKeys = async () => (await listKeys(owner())).filter(({ revokedAt }) => !revokedAt);

  it('is 20 active keys by default', () => expect(testConfig().maxKeysPerAccount).to.equal(20));

  it('is not exceeded by creations at once', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => create({ name: `key ${index}` })));
    const [made, refused] = [200, 422].map((status) => answers.filter((answer) => answer.status === status));
    expect([made?.length, refused?.length]).to.deep.equal([3, 9]);
    expect(await activeKeys()).to.have.length(3);
    for (const { html } of refused ?? []) {
      expect(html).to.match(/<title>Error: /);
      expect(html).to.include('This account has 3 active keys, the most it can have.');
      expect(html).not.to.include('new-key');
    }
  });

  it('counts keys of the command line, and not those that were revoked', async () => {
    const first = await byOperator();
    for (const name of ['one', 'two']) expect((await create({ name })).status).to.equal(200);
    expect((await create({ name: 'three' })).status).to.equal(422);
    expect((await visitor.get('/dashboard/keys/new')).html).not.to.include('Create key');
    await revokeKey(first.keyId, owner());
    const answers = await Promise.all(['three', 'four', 'five'].map((name) => create({ name })));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 422, 422]);
    expect(await activeKeys()).to.have.length(3);
    const [oldest] = await activeKeys();
    await revokeKey(oldest?._id ?? '', owner());
    expect((await create({ name: 'six' })).status).to.equal(200);
  });

  it('does not stop the repeat of a form whose key exists', async () => {
    const formId = newFormId();
    const first = await create({ formId });
    for (const name of ['two', 'three']) await create({ name });
    expect(textOf((await create({ formId })).html)).to.equal(textOf(first.html));
  });

  it('does not stop the operator, and leaves other accounts theirs', async () => {
    for (let made = 0; made < 5; made += 1) await byOperator();
    expect(await activeKeys()).to.have.length(5);
    expect((await create()).status).to.equal(422);
    visitor = await signedIn(api);
    expect((await create()).status).to.equal(200);
  });
});
