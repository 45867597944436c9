import { expect } from 'chai';
import { sentForm } from '../../../shared/accounts/sent-form.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import { deliverySettings, settingsMaxAgeMs } from '../../../shared/keys/delivery-settings.ts';
import { revokeKey } from '../../../shared/keys/manage-keys.ts';
import { rotateByForm } from '../../../shared/keys/replace-secret.ts';
import { newFormId, signedIn } from '../../support/dashboard.ts';
import { useKeyPages } from '../../support/key-pages.ts';
import { mailsTo } from '../../support/mails.ts';
import { testConfig } from '../../support/service.ts';

describe('the dashboard: the secrets of a key', () => {
  const { api, visitor, owner, textOf, audited, isAlive, stored } = useKeyPages();

  it('a rotation asks for confirmation, then replaces the key at once and shows the new one once', async () => {
    const { keyId, key } = await visitor.newKey('live');
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
    expect((await mailsTo(api.ctx, visitor.account.email)).map(({ subject }) => subject)).to.deep.equal([
      'Your live key "Front desk" was rotated',
    ]);
  });

  it('a repeated rotation form shows the key only in the same session, and only until the next rotation', async () => {
    const { keyId } = await visitor.newKey();
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
      .and.match(/It was last rotated on <time[^>]*>[\d: -]+ UTC/);
    expect(again.html).not.to.include('new-key').and.not.include(first).and.not.include(second);
    expect([await isAlive(first), await isAlive(second)]).to.deep.equal([false, true]);
  });

  it('a repeated rotation form shows the key if SECRETS_KEY got a new first key, but not if the old one is gone', async () => {
    const { keyId } = await visitor.newKey();
    const formId = newFormId();
    const first = textOf((await visitor.post(`/dashboard/keys/${keyId}/rotate`, { formId })).html, 'new-key');
    const [old, newer] = [7, 8].map((byte) => Buffer.alloc(32, byte).toString('base64'));
    const config = (value: string) => testConfig({ SECRETS_KEY: value });
    const form = {
      ...sentForm(visitor.account._id, formId, visitor.cookie.replace('session=', '')),
      seen: '',
      arrivedAt: new Date(),
    };
    const repeated = await rotateByForm(config(`${newer},${old}`), keyId, owner(), form);
    expect(repeated.key).to.equal(first);
    expect(await rotateByForm(config(`${newer}`), keyId, owner(), form)).not.to.have.property('key');
  });

  it('only one of several concurrent forms rotates a key, and the others get a 409', async () => {
    const { keyId } = await visitor.newKey();
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
    it(`the form of ${path} works after the clock was set back an hour`, async () => {
      const { keyId } = await visitor.newKey();
      const ahead = new Date(Date.now() + 3_600_000);
      await keys.updateOne({ _id: keyId }, { $set: { [replacedAt]: ahead } });
      const { status, html } = await visitor.post(`/dashboard/keys/${keyId}/${path}`, {
        seen: String(ahead.getTime()),
      });
      expect(status).to.equal(200);
      expect(textOf(html, shows)).to.be.a('string');
    });

    it(`a form of ${path} is refused if another person has replaced the secret since it was shown`, async () => {
      const { keyId } = await visitor.newKey();
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

  it('a revocation asks for confirmation, then requests with the key are refused, and its page says so', async () => {
    const { keyId, key } = await visitor.newKey();
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

  it('every action on a revoked key redirects to its page, and changes nothing', async () => {
    const { keyId } = await visitor.newKey('test', 'Front desk', 'https://partner.example/hook');
    await revokeKey(keyId, owner());
    const before = await stored(keyId);
    for (const path of ['name', 'webhook-url', 'test-event', 'signing-secret', 'roll-secret', 'rotate', 'revoke']) {
      const { status, headers } = await visitor.post(`/dashboard/keys/${keyId}/${path}`, { name: 'x' });
      expect([status, headers.get('location')], path).to.deep.equal([303, `/dashboard/keys/${keyId}`]);
    }
    expect(await stored(keyId)).to.deep.equal(before);
    expect(await audited()).to.deep.equal([]);
  });

  it('the signing secret is shown only on request, with an audit entry each time', async () => {
    const { keyId, signingSecret } = await visitor.newKey();
    const before = await visitor.get(`/dashboard/keys/${keyId}`);
    expect(before.html).to.include('>Show signing secret<').and.not.include('whsec_');
    const shown = await visitor.post(`/dashboard/keys/${keyId}/signing-secret`);
    expect(textOf(shown.html, 'signing-secret')).to.equal(signingSecret);
    const address = await visitor.get(`/dashboard/keys/${keyId}/signing-secret`);
    expect([address.status, address.headers.get('location')]).to.deep.equal([303, `/dashboard/keys/${keyId}`]);
    expect(await audited()).to.deep.equal(['signing_secret_viewed']);
  });

  it('a form rolls the signing secret once, after confirmation, for the next attempt', async () => {
    const { keyId, signingSecret } = await visitor.newKey();
    const current = async () => (await deliverySettings(api.ctx.config, keyId)).signingSecret;
    const asked = await visitor.get(`/dashboard/keys/${keyId}/roll-secret`);
    expect(asked.html).to.match(/<button[^>]*>Roll signing secret<\/button>/);
    expect(await current()).to.equal(signingSecret);
    const formId = newFormId();
    const send = async () => {
      const startedAt = performance.now();
      const answer = await visitor.post(`/dashboard/keys/${keyId}/roll-secret`, { formId });
      // A repeat may arrive while requests with the old secret are still being sent.
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
